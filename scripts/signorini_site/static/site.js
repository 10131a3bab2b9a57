"use strict";
// Boxes that scroll can be reached with the tabulator key, so that arrow keys move them; those that do not scroll are no stop.
function letKeysScroll() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .formula.display, main")) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", letKeysScroll);
addEventListener("resize", letKeysScroll);
