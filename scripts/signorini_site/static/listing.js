"use strict";
// As the pages of the site: what the reader chose there, else what the system says.
let chosen = null;
try { chosen = localStorage.getItem("theme"); } catch (error) { /* storage may be closed */ }
const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset.theme = dark ? "dark" : "light";
