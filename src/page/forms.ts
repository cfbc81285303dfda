/** The login, and the one change that the page can make. */
import { type Document, smallPage } from "./document.ts";
import { type Html, html } from "./html.ts";
import type { ForceView, LoginView } from "./views.ts";

export function loginPage({ to, isWrong, which }: LoginView, look: Document["assets"]): string {
  return smallPage(
    look,
    "Log in",
    html`<section class="panel" aria-labelledby="login-title"><h2 id="login-title">Log in</h2>
<p>The page needs the token of ${which}. The browser then keeps a signed cookie for 12 hours, not the token.</p>
${isWrong ? html`<p class="alert" role="alert">That is not the token. It may have been replaced.</p>` : ""}
<form class="form" method="post" action="/page/login"><input type="hidden" name="to" value="${to}">
<label>Token <input type="password" name="token" required autocomplete="current-password" autofocus></label>
<p class="buttons"><button type="submit">Log in</button></p></form></section>`,
  );
}

/** For a browser that is logged in. */
export function logoutForm(formToken: string): Html {
  return html`<form class="logout" method="post" action="/page/logout"><input type="hidden" name="form" value="${formToken}"><button type="submit">Log out</button></form>`;
}

export function forcePage(
  view: ForceView & { readonly force: string; readonly hasNative: boolean },
  look: Document["assets"],
): string {
  const { command, reason, by, fault } = view;
  return smallPage(
    look,
    "Force",
    html`<section class="panel" aria-labelledby="force-title"><h2 id="force-title">Force native v1</h2>
${fault === undefined ? "" : html`<p class="alert" role="alert">Nothing was changed: ${fault}</p>`}
${command === undefined || reason === "" ? choosing(view) : confirming({ ...view, command, reason, by })}</section>`,
  );
}

function choosing({
  force,
  hasNative,
  reason,
  by,
}: ForceView & { readonly force: string; readonly hasNative: boolean }) {
  const command = force === "none" ? "native" : "none";
  if (command === "native" && !hasNative)
    return html`<p>There is no native v1 to go back to: upstream.v1.url is not set.</p><p><a href="/">Back</a></p>`;
  return html`<p>${command === "native" ? "Every v1 request goes to native v1 from the next one on, whatever the rules say, on all replicas that share the store." : `Now every v1 request is forced to ${force}. When this is lifted, the rules decide again from the next request on.`}</p>
<form class="form" method="get" action="/page/force"><input type="hidden" name="force" value="${command}">
<label>Reason, for events and for the next reader <input name="reason" required maxlength="500" value="${reason}"></label>
<label>Your name (optional) <input name="by" maxlength="100" value="${by}"></label>
<p class="buttons"><button type="submit">Continue</button> <a class="button" href="/">Cancel</a></p></form>`;
}

function confirming({ command, reason, by, formToken }: ForceView) {
  return html`<p><strong>${command === "native" ? "Send every v1 request to native v1 now?" : "Lift the force now, so that the rules decide again?"}</strong></p>
<p>Reason: ${reason}${by === "" ? "" : `, by ${by}`}</p>
<form class="form" method="post" action="/page/force"><input type="hidden" name="force" value="${command}"><input type="hidden" name="reason" value="${reason}"><input type="hidden" name="by" value="${by}"><input type="hidden" name="form" value="${formToken}">
<p class="buttons"><button type="submit" class="danger">${command === "native" ? "Force native v1" : "Lift the force"}</button> <a class="button" href="/">Cancel</a></p></form>`;
}

export function faultPage(title: string, text: string, look: Document["assets"]): string {
  return smallPage(
    look,
    title,
    html`<section class="panel" aria-labelledby="fault-title"><h2 id="fault-title">${title}</h2><p>${text}</p></section>`,
  );
}
