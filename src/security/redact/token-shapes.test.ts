/** Every beginning of a token that Oxbow knows: a reviewed list, so that none is lost by accident. */
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { redact } from "./redact.js";
import { TOKEN_PATTERNS } from "./token-patterns.js";

const DIGITS = "0123456789";
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const ALPHABETS: Readonly<Record<string, string>> = {
  a: SMALL + SMALL.toUpperCase(),
  d: DIGITS,
  g: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  h: `${DIGITS}abcdef`,
  l: SMALL + DIGITS,
  n: SMALL + SMALL.toUpperCase() + DIGITS,
  u: SMALL.toUpperCase() + DIGITS,
};

/** A kind, and shapes of it: `<h40>` stands for forty characters of the alphabet `h`. No sample is written down. */
const SHAPES = `
aws-access-key AKIA<u16> ASIA<u16> ABIA<u16> ACCA<u16> AROA<u16> AIDA<u16> AGPA<u16> ANPA<u16> ANVA<u16>
aws-access-key AIPA<u16>
aws-bedrock-key ABSK<n111> bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t
google-api-key AIzaSy<n33>
google-oauth GOCSPX-<n28> ya29.<n32> 1//0<n42>
firebase-server-key <n11>:APA91b<n102>
azure-key <n76>+ASt<n5>A==
azure-client-secret <n3><d1>Q~<n33>
alibaba-access-key LTAI<n14>
tencent-secret-id AKID<n32>
yandex t1.<n7>.<n86> AQVN<n37> y0_<n56> y1_<n56> y2_<n56> y3_<n56>
digitalocean dop_v1_<h64> doo_v1_<h64> dor_v1_<h64>
heroku HRKU-AA<n58>
scalingo tk-us-<n48>
fly-io fo1_<n43> fm1r_<n92> fm1a_<n92> fm2_<n92>
cloudflare v1.0-<h24>-<h146> cfat_<n40><h8> cfut_<n40><h8> cfk_<n40><h8>
vercel vcp_<n26> vci_<n26> vca_<n26> vcr_<n26> vck_<n26>
netlify nfp_<n36> nfc_<n36> nfo_<n36> nfu_<n36>
supabase sbp_<h40> sb_secret_<n33>
render rnd_<n30>
cockroach CCDB1_<n22>_<n40>
aiven aivenv1-<n42> AVNS_<n18>
mongodb mdb_sa_sk_<n40>
elastic essu_<n42>
pinecone pcsk_<n6>_<n52>
dbt dbtc_<n38> dbtu_<n38> dbts_<n38>
salesforce 00D<n14>!<n82>
aws-appsync-key da2-<l26>
presigned-url X-Amz-Signature=<h66> X-Goog-Signature=<h66>
volcengine-access-key AKLT<n42>
digitalocean-spaces DO00<u16>
planetscale pscale_tkn_<n34> pscale_oauth_<n34> pscale_pw_<n34>
neon napi_<n64>
clickhouse 4b1d<n38>
databricks dapi<h32>
dynatrace dt0c01.<n10>.<n64> dt0s01.<n10>.<n64> dt0s02.<n10>.<n64> dt0s08.<n10>.<n64> dt0s16.<n10>.<n64>
terraform <n14>.atlasv1.<n62>
vault hvs.<n92> hvb.<n92> hvr.<n92> hvs.<n26> s.<n24>
doppler dp.pt.<n42> dp.st.<n42> dp.ct.<n42> dp.sa.<n42> dp.scim.<n42> dp.audit.<n42>
pulumi pul-<h40>
openshift sha256~<n43>
infracost ico-<n32>
prefect pnu_<n36> pnb_<n36>
tailscale tskey-aaa-<n8>-<n18>
defined-networking dnkey-<n26>-<n52>
age-secret-key AGE-SECRET-KEY-1<g58>
1password ops_eyJ<n242> A3-<u6>-<u11>-<u5>-<u5>-<u5>
github ghp_<n36> gho_<n36> ghu_<n36> ghs_<n36> ghr_<n36> ghs_<d3>_eyJ<n12>.<n12>.<n12> github_pat_<n38>
gitlab glpat-<n21><n1> glrt-<n21><n1> glrtr-<n21><n1> glcbt-<n21><n1> glptt-<n21><n1> gldt-<n21><n1>
gitlab glft-<n21><n1> glsoat-<n21><n1> glffct-<n21><n1> glimt-<n21><n1> gloas-<n21><n1> glagent-<n21><n1>
gitlab GR1348941<n20> _gitlab_session=<l32>
gitea gta_<h40>
buildkite bkua_<l40> bkct_<l40> bkpt_<l40> bkar_<l40>
circleci CCIPAT_<n22>_<n40> CCIPRJ_<n22>_<n40>
dependency-track odt_<n30>
nuget oy2<l43>
launchdarkly sdk-<h8>-<h4>-<h4>-<h4>-<h12> api-<h8>-<h4>-<h4>-<h4>-<h12>
sourcegraph sgd_<h64> slk_<h64> sgp_<h16>_local_<h40> sgp_<h40>
wakatime waka_<h8>-<h4>-<h4>-<h4>-<h12>
segment sgp_<n64>
bitbucket ATBB<n32>
atlassian ATATT3<n62> ATCTT3<n62>
npm npm_<n36>
pypi pypi-AgEIcHlwaS5vcmc<n52> pypi-AgENdGVzdC5weXBpLm9yZw<n52>
rubygems rubygems_<h48>
clojars CLOJARS_<n60>
crates-io cio<n32>
docker dckr_pat_<n29> dckr_oat_<n29>
artifactory AKCp<n69> cmVmd<n59>
snyk snyk_uat.<n42> snyk_sat.<n42>
sonar squ_<h40> sqp_<h40> sqa_<h40>
codacy-harness pat.<n22>.<n24>.<n20> sat.<n22>.<n24>.<n20>
octopus-deploy API-<u26>
postman PMAK-<h24>-<h34>
readme rdme_<l70>
authress sc_<n7>.<n6>.acc_<n12>.<n32> ext_<n7>.<n6>.acc_<n12>.<n32> scauth_<n7>.<n6>.acc_<n12>.<n32>
authress authress_<n7>.<n6>.acc_<n12>.<n32>
anthropic sk-ant-api<d3>-<n82>AA sk-ant-aa<d3>-<n42>
openai sk-<n22>T3BlbkFJ<n22> sk-proj-<n22>T3BlbkFJ<n22> sk-svcacct-<n22>T3BlbkFJ<n22>
openai sk-admin-<n22>T3BlbkFJ<n22> sk-service-<n22>T3BlbkFJ<n22>
openrouter sk-or-v1-<h64>
langfuse sk-lf-<h8>-<h4>-<h4>-<h4>-<h12>
api-key sk-<h32> sk-<n42>
cerebras csk-<l48>
together tgp_v1_<n43>
voyage pa-<n43>
elevenlabs sk_<h48>
jina jina_<h32><n30>
firecrawl fc-<h32>
e2b e2b_<h40>
browserbase bb_live_<n26> bb_test_<n26>
voiceflow VF.DM.<h24>.<n16> VF.WS.<h24>.<n16>
groq gsk_<n52>
xai xai-<n72>
perplexity pplx-<n42>
huggingface hf_<a34> api_org_<a34>
replicate r8_<n37>
fireworks fw_<n24>
langsmith lsv2_pt_<h32>_<h10> lsv2_sk_<h32>_<h10>
tavily tvly-<n32>
nvidia nvapi-<n62>
slack xoxb-<d10>-<n10> xoxp-<d10>-<n10> xoxo-<d10>-<n10> xoxs-<d10>-<n10> xoxa-<d10>-<n10> xoxr-<d10>-<n10>
slack xoxb-<d1>-<n42> xoxp-<d1>-<n42> xoxa-<d1>-<n42> xoxr-<d1>-<n42> xoxo-<d1>-<n42> xoxs-<d1>-<n42>
slack xoxa-<n10> xoxr-<n10> xoxe.<d1>-<n142> xoxe-<d1>-<n142> xoxd-<n32> xoxc-<n32>
slack xapp-<d1>-<u10>-<d10>-<l34>
slack-webhook hooks.slack.com/services/<n18>
teams-webhook webhook.office.com/webhook/<n62> outlook.office.com/webhook/<n62>
discord-webhook discord.com/api/webhooks/<d19>/<n62> discordapp.com/api/webhooks/<d19>/<n62>
telegram <d9>:A<n34>
sendgrid SG.<n22>.<n43>
sendinblue xkeysib-<h64>-<n16> xsmtpsib-<h64>-<n16>
mailgun key-<h32> pubkey-<h32> private-<h32>-<h8>-<h8>
twilio SK<h32> AC<h32>
typeform tfp_<n59>
notion ntn_<d11><n35> secret_<n43>
hubspot pat-na1-<h8>-<h4>-<h4>-<h4>-<h12> pat-na2-<h8>-<h4>-<h4>-<h4>-<h12> pat-na3-<h8>-<h4>-<h4>-<h4>-<h12>
hubspot pat-eu1-<h8>-<h4>-<h4>-<h4>-<h12> pat-ap1-<h8>-<h4>-<h4>-<h4>-<h12>
trello ATTA<h64><n8>
clickup pk_<d6>_<u32>
asana 0/<d12>:<h32> 1/<d12>:<h32> 2/<d12>:<h32>
contentful CFPAT-<n45>
resend re_<n8>_<n22>
onesignal os_v2_app_<l82> os_v2_org_<l82>
pinterest pina_<u62>
linkedin WPL_AP0.<n16>.<n8> WPL_AP1.<n16>.<n8>
twitter AAAAAAAAAAAAAAAAAAAAA<n5>%<h2>
teamwork tkn.v1_<n62>
dropbox sl.<n132>
ionic ion_<n42>
twitch live_<d8>_<n26>
adafruit aio_<n28>
zoho 1000.<h32>.<h32>
ubidots BBFF-<n30> BBUS-<n30>
rapidapi <l10>msh<l15>p1<l6>jsn<l12>
linear lin_api_<n42> lin_oauth_<n42>
figma figd_<n42> figu_<n42> figo_<n42>
airtable pat<n14>.<h64>
frame-io fio-u-<n64>
intra42 s-s4t2ud-<h64> s-s4t2af-<h64>
stripe sk_live_<n26> sk_test_<n26> sk_prod_<n26> rk_live_<n26> rk_test_<n26> rk_prod_<n26>
stripe-webhook whsec_<n34>
square sq0atp-<n24> sq0csp-<n24> sq0idp-<n24> EAAA<n20>
facebook EAAM<n82> EAAC<n82> <d16>|<n29>
instagram IGQV<n82>
shopify shpat_<n34> shpca_<n34> shppa_<n34> shpss_<n34> shptka_<n34> shpua_<n34>
paypal access_token$production$<l16>$<h32> access_token$sandbox$<l16>$<h32>
flutterwave FLWSECK_TEST-<h12> FLWSECK-<h12> FLWPUBK_TEST-<h12> FLWPUBK-<h12>
easypost EZAK<n54> EZTK<n54>
shippo shippo_live_<h40> shippo_test_<h40>
duffel duffel_live_<n43> duffel_test_<n43>
lob live_pub_<h31> test_pub_<h31> live_<h35> test_<h35>
gocardless live_<n40>
plaid access-production-<h8>-<h4>-<h4>-<h4>-<h12> access-sandbox-<h8>-<h4>-<h4>-<h4>-<h12>
plaid access-development-<h8>-<h4>-<h4>-<h4>-<h12>
adobe p8e-<h32>
settlemint sm_pat_<n16> sm_aat_<n16> sm_sat_<n16>
klaviyo pk_<h34>
pagarme ak_live_<n30> ak_test_<n30>
adyen AQE<n62>-<n22>
liveblocks sk_dev_<n32>
stytch secret-live-<n33><n3> secret-test-<n33><n3>
fleetbase flb_live_<n20> flb_test_<n20>
flexport shltm_<n40>
razorpay rzp_live_<n14> rzp_test_<n14>
grafana glc_<n34> glsa_<n32>_<h8> eyJrIjoi<n62>
new-relic NRAK-<n27> NRJS-<h19> NRII-<n32> NRAA-<h29> NRRA-<h29> NRIQ-<n32> <h36>NRAL
pixie px-api-<h8>-<h4>-<h4>-<h4>-<h12> px-dep-<h8>-<h4>-<h4>-<h4>-<h12>
axiom xaat-<h8>-<h4>-<h4>-<h4>-<h12> xapt-<h8>-<h4>-<h4>-<h4>-<h12>
honeycomb hcaik_<l42> hcbik_<l42> hcalk_<l42>
posthog phx_<n34> phs_<n34>
trigger-dev tr_dev_<n22> tr_prod_<n22> tr_pat_<n22> tr_stg_<n22>
inngest signkey-prod-<h34> signkey-test-<h34> signkey-branch-<h34>
nightfall NF-<n32>
sentry sntrys_eyJ<n82> sntryu_<h64>
maxmind <n6>_<n29>_mmk
oxbow-token oxb1.eyJ<n62>.<n43>
jwt ey<n17>.ey<n25>. ZXlK<n82>
private-key LS0tLS1CRUdJTiBQUklWQVRF<n62>
mapbox pk.<n62>.<n22> sk.<n62>.<n22> tk.<n62>.<n22>
azure-storage-key AccountKey=<n86>==
azure-shared-key SharedAccessKey=<n43>=
azure-signature sig=<n45>=
`;

/** The same for the same seed. */
function sample(shape: string, seed: number): string {
  let state = seed;
  return shape.replace(/<([a-z])(\d+)>/g, (_, alphabet: string, length: string) => {
    const letters = ALPHABETS[alphabet] ?? "";
    let text = "";
    while (text.length < Number(length)) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      text += letters.charAt((state >>> 8) % letters.length);
    }
    return text;
  });
}

describe("tokens with a published format", () => {
  const rows = SHAPES.trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, ...string[]]);

  verifies(["S4"], "are hidden under their kind, each by each of its beginnings", () => {
    const wrong = rows.flatMap(([kind, ...shapes]) =>
      shapes.filter((shape) =>
        [1, 2, 3].some((seed) => redact(`see ${sample(shape, seed)} now`) !== `see «redacted:${kind}» now`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  verifies(["S4"], "are not hidden if they are shorter, or go on as a word", () => {
    for (const [kind, shape = ""] of [
      ["npm", "npm_<n30>"],
      ["rubygems", "rubygems_<h40>"],
      ["sonar", "squ_<h40>z"],
      ["e2b", "e2b_<h39>"],
    ])
      expect(redact(`see ${sample(shape, 1)} now`), kind).toBe(`see ${sample(shape, 1)} now`);
  });

  verifies(["S4"], "are all in this list", () => {
    const listed = new Set(rows.map(([kind]) => kind));
    // A random sample of these is not always taken for a token.
    const missing = TOKEN_PATTERNS.map(({ kind }) => kind).filter((kind) => !listed.has(kind));
    expect([...new Set(missing)]).toEqual(["discord", "mandrill"]);
  });
});

/** Services whose keys have no beginning of their own. */
const SERVICE_NAMES = `
adafruit adobe airtable algolia alibaba asana atlassian beamer bitbucket bittrex cloudflare codecov cohere coinbase confluence confluent
contentful datadog deepseek discord droneci dropbox etsy facebook fastly finicity finnhub flickr freshbooks gitter heroku hubspot
intercom jfrog artifactory bintray jira kraken kucoin launchdarkly linear linkedin linked-in linked_in looker mailchimp mailgun mapbox
mattermost maxmind meraki messagebird message-bird message_bird mistral netlify newrelic new-relic new_relic nytimes new-york-times okta
opsgenie pagerduty plaid privateai private-ai private_ai rapidapi sendbird sentry snyk sonar sourcegraph squarespace sumo sumologic
telegram telegr travis twilio twitch twitter yandex zendesk
`;

/** Lists what a key may be for that is no secret. */
const OTHER_KEYS = `
cache primary foreign partition sort shard object storage host row unique group index hash dedup deduplication routing event message query
item entry lookup range registry map state lock build idempotency publishable anon site pub verify verification ssh gpg pgp artifact commit
content trace record s3
`;

/** Ends of names that hold something about a secret. */
const OTHER_ENDS = `
hash sha256 digest checksum commit revision version fingerprint integrity etag url uri path file dir type count limit size length expiry
expires ttl index label field header prefix suffix pattern regex regexp name column row class style color policy scope format placeholder
hint help title message error text description endpoint host algorithm enabled required arn arg
`;

describe("names that go before a value", () => {
  const value = sample("<l9><d5><l9><d5><l4>", 5);
  const isHidden = (name: string) => redact(`${name} = "${value}"`) !== `${name} = "${value}"`;
  const list = (names: string) => names.trim().split(/\s+/);

  verifies(["S4"], "hide it if they name a service and a login", () => {
    expect(list(SERVICE_NAMES).filter((name) => !isHidden(`${name}_login`))).toEqual([]);
    expect(isHidden("village_login")).toBe(false);
  });

  verifies(["S4"], "leave it if they name a key that is no secret, or something about one", () => {
    expect(isHidden("some_key")).toBe(true);
    expect(list(OTHER_KEYS).filter((name) => isHidden(`${name}_key`))).toEqual([]);
    expect(isHidden("api_token")).toBe(true);
    expect(list(OTHER_ENDS).filter((end) => isHidden(`api_token_${end}`))).toEqual([]);
  });
});
