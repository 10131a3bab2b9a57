/* Checks of a page that matter to readers with a keyboard or a screen reader, after WCAG 2.1 AA: language, title, one main
   landmark, one h1 and no skipped level of headings, names of controls, links, pictures and frames, unique ids, references
   that lead somewhere, no positive tabindex, reachable scroll areas, headings in tables, and contrast of text. */
function accessibilityFindings() {
  const found = [];
  const say = (rule, element, words) => found.push(`${rule}: ${element.outerHTML.slice(0, 160)}: ${words}`);
  const visible = element => element.checkVisibility({checkVisibilityCSS: true}) && !element.closest("[aria-hidden='true']");
  const nameOf = element => {
    const by = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
      .map(id => document.getElementById(id)?.textContent || "").join(" ");
    const labels = [...(element.labels || [])].map(label => label.textContent).join(" ");
    const inside = element.matches("input, select, textarea, iframe") ? "" : element.textContent +
      [...element.querySelectorAll("img")].map(image => image.alt).join(" ");
    return [by, element.getAttribute("aria-label"), labels, inside, element.getAttribute("alt"), element.title].map(text => (text || "").trim()).find(Boolean) || "";
  };
  const root = document.documentElement;
  if (!root.lang) say("language", root, "no lang");
  if (!document.title.trim()) say("title", root, "no title");
  const mains = document.querySelectorAll("main, [role=main]").length;
  if (mains !== 1) say("landmark", document.body, `${mains} main landmarks`);
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(visible);
  if (headings.filter(heading => heading.tagName === "H1").length !== 1) say("heading", document.body, "not one h1");
  headings.reduce((before, heading) => {
    const level = Number(heading.tagName[1]);
    if (level > before + 1) say("heading", heading, `level ${level} after ${before}`);
    return level;
  }, 0);
  for (const element of document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea, summary, iframe, [role=button], [role=img], [role=tab], [role=dialog]"))
    if (visible(element) && !nameOf(element)) say("name", element, "has no name");
  for (const element of document.querySelectorAll("button[aria-label], a[href][aria-label]"))
    if (visible(element) && !element.getAttribute("aria-label").includes(element.textContent.trim())) say("name", element, "its name lacks the words that are seen");
  for (const image of document.querySelectorAll("img:not([alt])")) say("name", image, "no alt");
  const ids = new Set();
  for (const element of document.querySelectorAll("[id]")) {
    if (ids.has(element.id)) say("id", element, "stands twice");
    ids.add(element.id);
  }
  for (const key of ["for", "aria-labelledby", "aria-describedby", "aria-controls"])
    for (const element of document.querySelectorAll(`[${key}]`))
      for (const id of element.getAttribute(key).split(/\s+/).filter(Boolean))
        if (!document.getElementById(id)) say("reference", element, `${key} leads to no element`);
  for (const element of document.querySelectorAll("[tabindex]"))
    if (Number(element.getAttribute("tabindex")) > 0) say("order", element, "positive tabindex");
  for (const element of document.querySelectorAll("body *")) {
    if (!visible(element)) continue;
    const style = getComputedStyle(element);
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1 ||
      ["auto", "scroll"].includes(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
    if (scrolls && element.tabIndex < 0 && !element.querySelector("a[href], button, input, select, [tabindex='0']"))
      say("keyboard", element, "scrolls, and no key reaches it");
  }
  for (const table of document.querySelectorAll("table"))
    if (visible(table) && !table.querySelector("th")) say("table", table, "no heading");
  found.push(...contrastFindings(visible));
  return [...new Set(found)];
}

function contrastFindings(visible) {
  const found = [];
  const parse = text => { const part = (text.match(/[\d.]+/g) || []).map(Number); return part.length < 3 ? null : [part[0], part[1], part[2], part[3] ?? 1]; };
  const over = (above, below) => [0, 1, 2].map(at => above[3] * above[at] + (1 - above[3]) * below[at]).concat(1);
  const behind = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour && colour[3] > 0) layers.push(colour);
      if (colour && colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const light = colour => {
    const part = colour.slice(0, 3).map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || element.closest("script, style, noscript, svg") || !visible(element)) continue;
    seen.add(element);
    const box = element.getBoundingClientRect();
    if (box.width <= 1 && box.height <= 1) continue;  // words for a screen reader alone
    if (element.matches(":disabled") || element.closest(":disabled")) continue;
    const style = getComputedStyle(element), back = behind(element), colour = parse(style.color);
    if (!colour) continue;
    const [bright, dark] = [light(over(colour, back)), light(back)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    const ratio = (bright + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast: ${element.outerHTML.slice(0, 120)}: ${ratio.toFixed(2)}`);
  }
  return found;
}
