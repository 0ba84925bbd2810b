/**
 * Tokens with a published format.
 *
 * 1. `starts` are literal and case-sensitive; every match begins with one of them. The quick test is made from them.
 * 2. `rest` is a regular expression without capturing groups and without white space, bounded or linear in its input.
 * 3. A pattern without a literal beginning names `anchors` instead, one of which is in every match: four characters as in grams.ts.
 */
export interface TokenPattern {
  readonly kind: string;
  readonly starts?: readonly string[];
  readonly anchors?: readonly string[];
  /** Every match contains one of these literally, not far from its beginning. */
  readonly holds?: readonly string[];
  readonly rest: string;
  /** Says how many different characters the part after the beginning must have; fewer make a placeholder. */
  readonly variety: number;
}

const ALNUM = "[A-Za-z0-9]";
const WORD = "[A-Za-z0-9_-]";
const HEX = "[a-f0-9]";
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
/** A signature of the service, a checksum behind it: `…+AStxxxxx==`, `…JQQJ99…ACOGxxxx`. */
const AZURE_SIGNED =
  "[A-Za-z0-9+/]{76}\\+ASt[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{33}(?:\\+ASb|\\+AEh|AIoT)[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{42}\\+ACR[A-Za-z0-9+/]{6}|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==|[A-Za-z0-9]{33}AzCa[A-Za-z0-9]{5}[AEIMQUYcgkosw048]=|[A-Za-z0-9]{52}JQQJ9[0-9A-Z]{10,24}[A-Z0-9a-z]{4,10}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}";
/** A random value does not contain the alphabet in order. */
const NOT_TYPED = "(?![A-Za-z0-9_-]{0,100}(?:abcdefghij|klmnopqrst|nopqrstuvw))";
const MOST_VARIETY_ASKED = 6;

function token(kind: string, starts: string, rest: string): TokenPattern {
  return { kind, starts: starts.split(" "), rest, variety: MOST_VARIETY_ASKED };
}

/** For beginnings that nothing else has: a dull body is hidden, too. */
function plain(kind: string, starts: string, rest: string): TokenPattern {
  return { ...token(kind, starts, rest), variety: 1 };
}

function anchored(kind: string, where: { anchors: string; holds: string }, rest: string): TokenPattern {
  const [anchors, holds] = [where.anchors.split(" "), where.holds.split(" ")];
  return { kind, anchors, holds, rest, variety: MOST_VARIETY_ASKED };
}

export const TOKEN_PATTERNS: readonly TokenPattern[] = [
  // clouds
  token("aws-access-key", "AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA ANVA AIPA", "(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}"),
  plain("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
  token("aws-bedrock-key", "bedrock-api-key-", "YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]{0,4000}"),
  token("google-api-key", "AIzaSy", `${NOT_TYPED}${WORD}{33}`),
  token("google-oauth", "GOCSPX-", `${WORD}{28}`),
  token("google-oauth", "ya29.", "[A-Za-z0-9_.-]{30,2000}"),
  token("google-oauth", "1//0", `${WORD}{40,250}`),
  anchored(
    "firebase-server-key",
    { anchors: ":apa", holds: ":APA91b" },
    "[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,200}",
  ),
  // Azure's newer keys carry the name of their service near the end.
  anchored(
    "azure-key",
    {
      anchors: "jqqj +ast +asb +aeh acdb +acr azse azfu azca aiot azdo",
      holds: "JQQJ9 +ASt +ASb +AEh ACDb +ACR AzSe AzFu AzCa AIoT AZDO",
    },
    AZURE_SIGNED,
  ),
  anchored(
    "azure-client-secret",
    { anchors: "#q~?", holds: "Q~" },
    "[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}(?![\\w~-])",
  ),
  token("alibaba-access-key", "LTAI", `${ALNUM}{12,20}`),
  token("tencent-secret-id", "AKID", `${ALNUM}{32}`),
  token("yandex", "t1.", "[A-Z0-9a-z_-]{5,200}={0,2}\\.[A-Z0-9a-z_-]{86}={0,2}"),
  token("yandex", "AQVN", `${WORD}{35,38}`),
  token("yandex", "y0_ y1_ y2_ y3_", `${WORD}{54,60}`),
  token("digitalocean", "dop_v1_ doo_v1_ dor_v1_", `${HEX}{64}`),
  token("heroku", "HRKU-AA", `${WORD}{58}`),
  token("scalingo", "tk-us-", `${WORD}{48}`),
  token("fly-io", "fo1_", `${WORD}{43}`),
  token("fly-io", "fm1r_ fm1a_ fm2_", "[A-Za-z0-9+/_-]{90,2000}={0,3}"),
  token("cloudflare", "v1.0-", `${HEX}{24}-${HEX}{146}`),
  token("cloudflare", "cfat_ cfut_ cfk_", `${ALNUM}{40}${HEX}{8}`),
  token("vercel", "vcp_ vci_ vca_ vcr_ vck_", `${ALNUM}{24,64}`),
  token("netlify", "nfp_ nfc_ nfo_ nfu_", `${ALNUM}{36}`),
  token("supabase", "sbp_", `${HEX}{40}`),
  token("supabase", "sb_secret_", `${WORD}{31,40}`),
  token("render", "rnd_", `${ALNUM}{28,40}`),
  token("cockroach", "CCDB1_", `${ALNUM}{22}_${ALNUM}{40}`),
  token("aiven", "aivenv1-", "[A-Za-z0-9+/_-]{40,300}={0,2}"),
  token("aiven", "AVNS_", `${WORD}{16,32}`),
  token("mongodb", "mdb_sa_sk_", `${WORD}{40}`),
  token("elastic", "essu_", "[A-Za-z0-9+/=_-]{40,200}"),
  token("pinecone", "pcsk_", "[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}"),
  token("dbt", "dbtc_ dbtu_ dbts_", "[A-Za-z0-9+/=_-]{36,80}"),
  token("salesforce", "00D", "[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,200}"),
  token("aws-appsync-key", "da2-", "[a-z0-9]{26}"),
  plain("presigned-url", "X-Amz-Signature= X-Goog-Signature=", "[A-Fa-f0-9]{64,600}"),
  token("volcengine-access-key", "AKLT", "[A-Za-z0-9+/=_-]{40,60}"),
  token("digitalocean-spaces", "DO00", "[A-Z0-9]{16}"),
  token("planetscale", "pscale_tkn_ pscale_oauth_ pscale_pw_", "[A-Za-z0-9=_.-]{32,64}"),
  token("neon", "napi_", `${ALNUM}{64}`),
  token("clickhouse", "4b1d", `${ALNUM}{38}`),
  token("databricks", "dapi", `[a-fA-F0-9]{32}(?:-\\d)?`),
  token("dynatrace", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", `${ALNUM}{8,24}\\.${ALNUM}{64}`),
  anchored("terraform", { anchors: ".atl", holds: ".atlasv1." }, `${ALNUM}{14}\\.atlasv1\\.[A-Za-z0-9=_-]{60,70}`),
  token("vault", "hvs. hvb. hvr.", `${WORD}{90,300}`),
  token("vault", "hvs.", `${WORD}{24,89}`),
  token("vault", "s.", `(?=[A-Za-z]{0,23}\\d)(?=[A-Z0-9]{0,23}[a-z])(?=[a-z0-9]{0,23}[A-Z])${ALNUM}{24}`),
  token("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "[A-Za-z0-9._-]{40,80}"),
  token("pulumi", "pul-", `${HEX}{40}`),
  token("openshift", "sha256~", `${WORD}{43}`),
  token("infracost", "ico-", `${ALNUM}{32}`),
  token("prefect", "pnu_ pnb_", `${ALNUM}{36}`),
  plain("tailscale", "tskey-", "[a-z]{3,12}-[A-Za-z0-9]{6,20}-[A-Za-z0-9]{16,48}"),
  token("defined-networking", "dnkey-", "[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
  plain("age-secret-key", "AGE-SECRET-KEY-1", "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
  token("1password", "ops_eyJ", "[A-Za-z0-9+/_-]{240,4000}={0,3}"),
  token("1password", "A3-", "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"),
  // code and packages
  token("github", "ghp_ gho_ ghu_ ghs_ ghr_", `${ALNUM}{34,251}`),
  token("github", "ghs_", "\\d{1,12}_eyJ[A-Za-z0-9_-]{10,2000}\\.[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,2000}"),
  token("github", "github_pat_", "[A-Za-z0-9_]{36,255}"),
  token(
    "gitlab",
    "glpat- glrt- glrtr- glcbt- glptt- gldt- glft- glsoat- glffct- glimt- gloas- glagent-",
    "[A-Za-z0-9_.-]{19,299}[A-Za-z0-9_-]",
  ),
  token("gitlab", "GR1348941", `${WORD}{20}`),
  token("gitlab", "_gitlab_session=", "[0-9a-z]{32}"),
  token("gitea", "gta_", `${HEX}{40}`),
  token("buildkite", "bkua_ bkct_ bkpt_ bkar_", "[a-z0-9]{40}"),
  token("circleci", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9]{20,24}_[A-Za-z0-9]{38,48}"),
  token("dependency-track", "odt_", `${ALNUM}{28,60}`),
  token("nuget", "oy2", "(?=[a-z]{0,42}\\d)[a-z0-9]{43}"),
  token("launchdarkly", "sdk- api-", UUID),
  token("sourcegraph", "sgd_ slk_", `${HEX}{64}`),
  token("sourcegraph", "sgp_", `${HEX}{16}_local_${HEX}{40}`),
  token("wakatime", "waka_", UUID),
  token("segment", "sgp_", `${ALNUM}{64}`),
  token("bitbucket", "ATBB", `${ALNUM}{32}`),
  token("atlassian", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{60,300}"),
  token("npm", "npm_", `${ALNUM}{36}`),
  token("pypi", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", `${WORD}{50,1000}`),
  token("rubygems", "rubygems_", `${HEX}{48}`),
  token("clojars", "CLOJARS_", `${ALNUM}{60}`),
  token("crates-io", "cio", `${ALNUM}{32}`),
  token("docker", "dckr_pat_ dckr_oat_", `${WORD}{27,40}`),
  token("artifactory", "AKCp", `${ALNUM}{69}`),
  token("artifactory", "cmVmd", `${ALNUM}{59}`),
  { ...token("sourcegraph", "sgp_", "(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"), variety: 10 },
  token("snyk", "snyk_uat. snyk_sat.", "[A-Za-z0-9_.-]{40,200}"),
  token("sonar", "squ_ sqp_ sqa_", `${HEX}{40}`),
  token("codacy-harness", "pat. sat.", `${WORD}{22}\\.${ALNUM}{24}\\.${ALNUM}{20}`),
  token("octopus-deploy", "API-", "[A-Z0-9]{26}"),
  token("postman", "PMAK-", `${HEX}{24}-${HEX}{34}`),
  token("readme", "rdme_", "[a-z0-9]{70}"),
  token(
    "authress",
    "sc_ ext_ scauth_ authress_",
    "[A-Za-z0-9]{5,30}\\.[A-Za-z0-9]{4,6}\\.(?:acc[_-])[A-Za-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}",
  ),
  // models
  // The existing kinds with any body; and any future kind.
  plain("anthropic", "sk-ant-", `(?:api|admin|oat|ort|sid)\\d{2,3}-${WORD}{80,118}AA`),
  token("anthropic", "sk-ant-", `[a-z]{2,12}\\d{2,3}-${NOT_TYPED}${WORD}{40,200}`),
  {
    ...token("openai", "sk- sk-proj- sk-svcacct- sk-admin- sk-service-", `${WORD}{20,100}T3BlbkFJ${WORD}{20,100}`),
    holds: ["T3BlbkFJ"],
  },
  token("openrouter", "sk-or-v1-", `${HEX}{64}`),
  token("langfuse", "sk-lf-", UUID),
  token("api-key", "sk-", `(?:${HEX}{32}|${HEX}{48}|${HEX}{64})`),
  token(
    "api-key",
    "sk-",
    "(?![A-Za-z0-9]{0,60}abcdefgh)(?=[A-Za-z]{0,60}\\d)(?=[A-Z0-9]{0,60}[a-z])(?=[a-z0-9]{0,60}[A-Z])[A-Za-z0-9]{40,64}",
  ),
  token("cerebras", "csk-", "[a-z0-9]{48}"),
  token("together", "tgp_v1_", `${WORD}{43}`),
  token("voyage", "pa-", `(?=[A-Za-z]{0,40}\\d)${WORD}{43}`),
  token("elevenlabs", "sk_", `${HEX}{48}`),
  token("jina", "jina_", `${HEX}{32}${WORD}{28,32}`),
  token("firecrawl", "fc-", `${HEX}{32}`),
  token("e2b", "e2b_", `${HEX}{40}`),
  token("browserbase", "bb_live_ bb_test_", `${WORD}{24,40}`),
  token("voiceflow", "VF.DM. VF.WS.", `${HEX}{24}\\.[A-Za-z0-9]{16}`),
  token("groq", "gsk_", `${ALNUM}{52}`),
  token("xai", "xai-", "[A-Za-z0-9_]{70,90}"),
  token("perplexity", "pplx-", `${ALNUM}{40,64}`),
  token("huggingface", "hf_ api_org_", "[A-Za-z]{34}"),
  token("replicate", "r8_", `${ALNUM}{37}`),
  token("fireworks", "fw_", `${ALNUM}{22,24}`),
  token("langsmith", "lsv2_pt_ lsv2_sk_", `${HEX}{32}_${HEX}{10}`),
  token("tavily", "tvly-", `(?:dev-|prod-)?${ALNUM}{32}`),
  token("nvidia", "nvapi-", `${WORD}{60,70}`),
  // talk and mail
  token(
    "slack",
    "xoxb- xoxp- xoxo- xoxs- xoxa- xoxr-",
    `(?:\\d-)?\\d{8,14}(?:-\\d{6,14}){0,3}-${ALNUM}{8,64}(?![#*-])`,
  ),
  token("slack", "xoxb- xoxp- xoxa- xoxr- xoxo- xoxs-", `(?:\\d-)${WORD}{40,300}`),
  token("slack", "xoxa- xoxr-", "(?:\\d-)?[0-9a-zA-Z]{8,48}"),
  token("slack", "xoxe. xoxe-", `(?:xox[bp]-)?\\d-${ALNUM}{140,200}`),
  token("slack", "xoxd- xoxc-", "[A-Za-z0-9%/+=-]{30,400}"),
  token("slack", "xapp-", "\\d-[A-Z0-9]{8,14}-\\d{8,16}-[a-z0-9]{32,70}"),
  plain("slack-webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{16,120}"),
  token("teams-webhook", "webhook.office.com/ outlook.office.com/", "webhook(?:b2)?/[A-Za-z0-9@/-]{60,200}"),
  token("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", `\\d{17,20}/${WORD}{60,90}`),
  anchored(
    "discord",
    { anchors: "^mt@ ^md@ ^mj@ ^mz@ ^nt@ ^nd@ ^nj@ ^nz@ ^ot@ ^od@ ^oj@ ^oz@", holds: "." },
    "[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38}",
  ),
  anchored("telegram", { anchors: "##:a", holds: ":A" }, "\\d{7,10}:A[A-Za-z0-9_-]{32,34}"),
  token("sendgrid", "SG.", "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}|[A-Za-z0-9=_.-]{66}"),
  token("sendinblue", "xkeysib- xsmtpsib-", `${HEX}{64}-${ALNUM}{16}`),
  token("mailgun", "key- pubkey-", `${HEX}{32}`),
  token("mailgun", "private-", `${HEX}{32}-${HEX}{8}-${HEX}{8}`),
  token("twilio", "SK AC", "[a-f0-9]{32}"),
  token("typeform", "tfp_", "[A-Za-z0-9=_.-]{59}"),
  token("notion", "ntn_", `\\d{11}${ALNUM}{35}`),
  token("notion", "secret_", `(?=[A-Za-z]{0,42}\\d)${ALNUM}{43}`),
  token("hubspot", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", UUID),
  token("trello", "ATTA", `${HEX}{64}${ALNUM}{8}`),
  token("clickup", "pk_", "\\d{4,12}_[A-Z0-9]{32}"),
  token("asana", "0/ 1/ 2/", "\\d{10,20}(?:/\\d{10,20})?:[a-f0-9]{32}"),
  token("contentful", "CFPAT-", `${WORD}{43,64}`),
  token("resend", "re_", "[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,32}"),
  token("onesignal", "os_v2_app_ os_v2_org_", "[a-z0-9]{80,120}"),
  token("mandrill", "md-", "(?=[A-Za-z]{0,21}\\d)[A-Za-z0-9_-]{22}"),
  token("pinterest", "pina_", "[A-Z0-9]{60,80}"),
  token("linkedin", "WPL_AP0. WPL_AP1.", "[A-Za-z0-9]{14,24}\\.[A-Za-z0-9+/=]{6,12}"),
  token("twitter", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9]{3,40}(?:%[0-9A-Fa-f]{2}[A-Za-z0-9]{0,60}){1,4}"),
  token("teamwork", "tkn.v1_", "[A-Za-z0-9+/]{60,120}={0,2}"),
  token("dropbox", "sl.", "(?=[A-Za-z]{0,60}[0-9_-])[A-Za-z0-9_-]{130,1400}"),
  token("ionic", "ion_", `(?=[A-Za-z]{0,41}\\d)${ALNUM}{42}`),
  token("twitch", "live_", "\\d{6,12}_[A-Za-z0-9]{24,40}"),
  token("adafruit", "aio_", `${ALNUM}{28}`),
  token("zoho", "1000.", "[a-f0-9]{32}\\.[a-f0-9]{32}"),
  token("ubidots", "BBFF- BBUS-", "[A-Za-z0-9]{30}"),
  anchored("rapidapi", { anchors: "@msh", holds: "msh" }, "[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{6}jsn[a-z0-9]{12}"),
  token("linear", "lin_api_ lin_oauth_", `${ALNUM}{40,64}`),
  token("figma", "figd_ figu_ figo_", `${WORD}{40,60}`),
  token("airtable", "pat", `(?=[a-z]{0,13}[A-Z0-9])${ALNUM}{14}\\.${HEX}{64}`),
  token("frame-io", "fio-u-", "[A-Za-z0-9=_-]{64}"),
  token("intra42", "s-s4t2ud- s-s4t2af-", `${HEX}{64}`),
  // money and shops
  plain("stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", `${ALNUM}{24,247}`),
  plain("stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", "(?=[A-Za-z]{0,30}\\d)[A-Za-z0-9]{10,23}"),
  token("stripe-webhook", "whsec_", "[A-Za-z0-9+/]{32,64}={0,2}"),
  token("square", "sq0atp- sq0csp- sq0idp-", `${WORD}{22,60}`),
  token("square", "EAAA", "(?=[a-z0-9]{0,40}[A-Z])[A-Za-z0-9_+=-]{18,60}"),
  token("facebook", "EAAM EAAC", "(?=[a-z0-9]{0,60}[A-Z])[A-Za-z0-9]{80,400}"),
  anchored("facebook", { anchors: "##|? ##%7", holds: "| %7" }, `\\d{15,16}(?:\\||%7[Cc])${WORD}{27,40}`),
  token("instagram", "IGQV", `${WORD}{80,250}`),
  token("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", `${ALNUM}{32,64}`),
  token("paypal", "access_token$production$ access_token$sandbox$", `[a-z0-9]{16}\\$${HEX}{32}`),
  token("flutterwave", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK-", `${HEX}{12}(?:${HEX}{20}-X)?`),
  token("easypost", "EZAK EZTK", `${ALNUM}{54}`),
  token("shippo", "shippo_live_ shippo_test_", "[a-fA-F0-9]{40}"),
  token("duffel", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{43}"),
  token("lob", "live_pub_ test_pub_", `${HEX}{31}`),
  token("lob", "live_ test_", `${HEX}{35}`),
  token("gocardless", "live_", "(?=[A-Za-z]{0,38}[0-9_=-])[A-Za-z0-9_=-]{40}"),
  token("plaid", "access-production- access-sandbox- access-development-", UUID),
  token("adobe", "p8e-", `${HEX}{32}`),
  token("settlemint", "sm_pat_ sm_aat_ sm_sat_", `${ALNUM}{16}`),
  token("klaviyo", "pk_", `${HEX}{34}`),
  token("pagarme", "ak_live_ ak_test_", `${ALNUM}{30}`),
  token(
    "adyen",
    "AQE",
    "(?=[A-Za-z]{0,40}\\d)[A-Za-z0-9+/]{60,160}[-=][A-Za-z0-9+/=*^<>(){}\\[\\]~!@#$%&?;:.,_-]{20,120}",
  ),
  token("liveblocks", "sk_dev_", `${WORD}{30,90}`),
  token("stytch", "secret-live- secret-test-", "[A-Za-z0-9_-]{33}[A-Za-z0-9_=-]{1,16}"),
  token("fleetbase", "flb_live_ flb_test_", `${ALNUM}{20}`),
  token("flexport", "shltm_", `${WORD}{40}`),
  token("razorpay", "rzp_live_ rzp_test_", `${ALNUM}{14}`),
  // watching
  token("grafana", "glc_", "(?=[A-Za-z]{0,400}[0-9+/=])[A-Za-z0-9+/]{32,400}={0,3}"),
  token("grafana", "glsa_", `${ALNUM}{32}_[A-Fa-f0-9]{8}`),
  token("grafana", "eyJrIjoi", `${ALNUM}{60,400}={0,3}`),
  token("new-relic", "NRAK-", "[A-Za-z0-9]{27}"),
  token("new-relic", "NRJS-", `${HEX}{19}`),
  token("new-relic", "NRII-", `${WORD}{32}`),
  token("new-relic", "NRAA- NRRA-", `${HEX}{27,42}`),
  token("new-relic", "NRIQ-", `${WORD}{32}`),
  token("pixie", "px-api- px-dep-", UUID),
  token("axiom", "xaat- xapt-", UUID),
  token("honeycomb", "hcaik_ hcbik_ hcalk_", "[a-z0-9]{40,64}"),
  token("posthog", "phx_ phs_", `${WORD}{32,50}`),
  token("trigger-dev", "tr_dev_ tr_prod_ tr_pat_ tr_stg_", `${ALNUM}{20,48}`),
  token("inngest", "signkey-prod- signkey-test- signkey-branch-", `${HEX}{32,64}`),
  token("nightfall", "NF-", "(?=[a-zA-Z]{0,31}\\d)[a-zA-Z0-9]{32}"),
  anchored("new-relic", { anchors: "nral", holds: "NRAL" }, `${HEX}{36}NRAL`),
  token("sentry", "sntrys_eyJ", "[A-Za-z0-9+/=_]{80,500}"),
  token("sentry", "sntryu_", `${HEX}{64}`),
  anchored("maxmind", { anchors: "_mmk", holds: "_mmk" }, `${ALNUM}{6}_${ALNUM}{29}_mmk`),
  // signed and mapped
  token("oxbow-token", "oxb1.eyJ", "[A-Za-z0-9_-]{60,8000}\\.[A-Za-z0-9_-]{43}"),
  token("jwt", "ey", `${ALNUM}{15,4000}\\.ey[A-Za-z0-9/\\\\_-]{23,8000}\\.(?:[A-Za-z0-9/\\\\_-]{10,2000}={0,2})?`),
  token("jwt", "ZXlK", `[A-Za-z0-9+/]{80,4000}={0,2}`),
  token(
    "private-key",
    "LS0tLS1CRUdJTi",
    "(?:BQUklWQVRF|BSU0Eg|BFQyBQ|BPUEVOU1NI|BFTkNSWVBURUQg|BEU0Eg|BQR1AgUFJJ)[A-Za-z0-9+/]{60,12000}={0,2}",
  ),
  token("mapbox", "pk. sk. tk.", `${ALNUM}{60,200}\\.${WORD}{22}`),
  plain("azure-storage-key", "AccountKey=", "[A-Za-z0-9+/]{86}=="),
  plain("azure-shared-key", "SharedAccessKey=", "[A-Za-z0-9+/]{43}="),
  plain("azure-signature", "sig=", "[A-Za-z0-9%+/]{43,63}(?:=|%3[Dd])"),
];
