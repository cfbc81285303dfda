/** Texts that break a page that does not escape them: 200 of HTML, SVG, attributes, addresses, bidirectional marks, controls, and length. */

const SCRIPTS = ["globalThis.__hostile=1", "alert`1`"];

const MARKUP = SCRIPTS.flatMap((run) => [
  `<script>${run}</script>`,
  `</script><script>${run}</script>`,
  `<img src=x onerror=${run}>`,
  `<img/src="x"/onerror="${run}">`,
  `<svg onload=${run}>`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin=${run} attributeName=x dur=1s>`,
  `<svg><a href="javascript:${run}"><text y=20>x</text></a></svg>`,
  `<svg><foreignObject><body onload=${run}></foreignObject></svg>`,
  `<math href="javascript:${run}">x</math>`,
  `<iframe srcdoc="<script>parent.${run}</script>">`,
  `<iframe src="javascript:${run}">`,
  `<object data="javascript:${run}">`,
  `<embed src="javascript:${run}">`,
  `<details open ontoggle=${run}>`,
  `<input autofocus onfocus=${run}>`,
  `<select autofocus onfocus=${run}>`,
  `<textarea autofocus onfocus=${run}>`,
  `<marquee onstart=${run}>`,
  `<video><source onerror=${run}></video>`,
  `<audio src=x onerror=${run}>`,
  `<body onload=${run}>`,
  `<form action="javascript:${run}"><button>x</button></form>`,
  `<button formaction="javascript:${run}">x</button>`,
  `<base href="javascript:${run}//">`,
  `<meta http-equiv=refresh content="0;url=javascript:${run}">`,
  `<link rel=stylesheet href="data:text/css,*{display:none}">`,
  `<style>@import 'javascript:${run}';</style>`,
  `<template><script>${run}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<a href="javascript:${run}">click</a>`,
  `<a href="data:text/html,<script>${run}</script>">click</a>`,
  `<!--><script>${run}</script>-->`,
  `<![CDATA[><script>${run}</script>]]>`,
  `<?xml><script>${run}</script>`,
  `<script\u0000>${run}</script>`,
  `<scr<script>ipt>${run}</scr</script>ipt>`,
  `<SCRIPT SRC=//evil.example/x.js></SCRIPT>`,
]);

const ATTRIBUTES = SCRIPTS.flatMap((run) => [
  `" onmouseover="${run}`,
  `' onmouseover='${run}`,
  `"><script>${run}</script>`,
  `'><script>${run}</script>`,
  `" autofocus onfocus="${run}" x="`,
  `x onerror=${run}`,
  `\` onmouseover=${run} \``,
  `" style="position:fixed;inset:0" x="`,
  `"/><image xlink:href="x" onerror="${run}"/>`,
  `</title><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `</select><script>${run}</script>`,
  `</option><option onclick=${run}>`,
  `</style><script>${run}</script>`,
  `</svg><script>${run}</script>`,
  `</td></tr></table><script>${run}</script>`,
  `&lt;script&gt;${run}&lt;/script&gt;`,
  `&#60;script&#62;${run}&#60;/script&#62;`,
  `&quot; onmouseover=&quot;${run}`,
  `\\u003cscript\\u003e${run}\\u003c/script\\u003e`,
]);

const ADDRESSES = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\tscript:alert(1)",
  " javascript:alert(1)",
  "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
  "vbscript:msgbox(1)",
  "//evil.example/",
  "/\\evil.example/",
  'https://evil.example/?q="><script>alert(1)</script>',
  "../../etc/passwd",
  "?client=x&force=native#fragment",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "%0d%0aset-cookie:%20x=1",
  "client=a&client=b",
  '#"><svg onload=alert(1)>',
];

const MARKDOWN = [
  "[x](javascript:alert(1))",
  '![x](x"onerror="alert(1))',
  "[x]: javascript:alert(1)",
  "<javascript:alert(1)>",
  "```\n</code></pre><script>alert(1)</script>\n```",
  "`</code><script>alert(1)</script>`",
  "| a | <img src=x onerror=alert(1)> |",
  "# <script>alert(1)</script>",
  "[click](data:text/html,<script>alert(1)</script>)",
  "&NewLine;javascript&colon;alert(1)",
];

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are what template engines would run.
const TEMPLATES = [
  "${globalThis.__hostile=1}",
  "{{constructor.constructor('alert(1)')()}}",
  "<%= 7*7 %>",
  "#{7*7}",
  "{{7*7}}",
  "${7*7}",
  "%s%n%x",
  "$&$1$`",
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above.

const UNPRINTABLE = [
  "admin\u202egnp.exe",
  "\u202d\u202e\u2066\u2067\u2068\u2069",
  "a\u200bb\u200cc\u200d",
  "\ufeffname",
  "line\nbreak",
  "carriage\rreturn",
  "tab\there",
  "null\u0000byte",
  "\u001b[31mred\u001b[0m",
  "\u0007bell",
  "\u0085next",
  "\u2028separator\u2029",
  "\ud800lone",
  "lone\udfff",
  "\ufffe\uffff",
  "\u{e0001}\u{e0041}tags",
  "e\u0301\u0302\u0303\u0304\u0305",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
];

const LONG = [
  "x".repeat(10_000),
  "<".repeat(5_000),
  "\"'&<>".repeat(1_000),
  "\u0301".repeat(2_000),
  "a ".repeat(5_000),
];

const ALL = [...MARKUP, ...ATTRIBUTES, ...ADDRESSES, ...MARKDOWN, ...TEMPLATES, ...UNPRINTABLE, ...LONG];

/** Combinations fill the corpus up: what one text opens, the next one may close. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...new Set([...ALL, ...ALL.map((text, at) => `${ATTRIBUTES[at % ATTRIBUTES.length]}${text}`)]),
].slice(0, 200);
