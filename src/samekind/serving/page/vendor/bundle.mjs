// Makes regl-scatterplot.js of the packages from npm. Run by hand; README.md says when and how.

import { readFileSync, writeFileSync } from "node:fs";
import { buildSync } from "esbuild";

let text = readFileSync("node_modules/regl-scatterplot/dist/regl-scatterplot.esm.js", "utf8");

function change(before, after) {
  if (text.split(before).length !== 2) throw new Error(`expected once in regl-scatterplot: ${before}`);
  text = text.replace(before, () => after);
}

change(
  "import createOriginalRegl from 'regl';",
  "import createOriginalRegl from '@plotly/regl';\nimport { code } from './code.js';",
);
change(
  "return createOriginalRegl({ gl, extensions });",
  "return createOriginalRegl({ gl, extensions, cachedCode: code });",
);
change(
  `const lassoStyleEl = document.createElement('style');
    document.head.appendChild(lassoStyleEl);
    cachedLassoStylesheets = lassoStyleEl.sheet;`,
  `cachedLassoStylesheets = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, cachedLassoStylesheets];`,
);
writeFileSync("changed.js", text);
buildSync({
  entryPoints: ["changed.js"],
  outfile: "regl-scatterplot.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  external: ["./code.js"],
  legalComments: "none",
});
