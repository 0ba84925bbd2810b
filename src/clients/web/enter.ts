/** The first thing that a page runs: it takes the code to sign in out of the address, before anything else loads. */

const found = /^#(req_[0-9a-f]+\.\d{6})$/.exec(location.hash);
const code = found?.[1];
if (code !== undefined) history.replaceState(null, "", "/");

const style = document.createElement("link");
style.rel = "stylesheet";
style.href = "/style.css";
const styled = new Promise((resolve) => {
  style.onload = resolve;
  style.onerror = resolve;
});
document.head.append(style);

const [{ start }] = await Promise.all([import("./start.js"), styled]);
await start(code);
