// Keys and the colours of the pages: all of it works without them too.
(() => {
  "use strict";
  const root = document.documentElement;
  const remembered = (() => {
    try { return localStorage.getItem("clew-theme"); } catch { return null; }
  })();
  if (remembered === "dark" || remembered === "light") root.dataset.theme = remembered;

  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  const turn = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("clew-theme", root.dataset.theme); } catch { /* for this page */ }
  };

  const move = (by) => {
    const items = [...document.querySelectorAll(".runs .item, .entry")];
    if (!items.length) return;
    const at = items.findIndex((each) => each.contains(document.activeElement));
    const to = at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by;
    const item = items[Math.min(Math.max(to, 0), items.length - 1)];
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("DOMContentLoaded", () => {
    const keys = document.getElementById("keys");
    for (const [id, act] of [["theme", turn], ["keys-button", () => keys.showModal()]]) {
      const button = document.getElementById(id);
      button.hidden = false;
      button.addEventListener("click", act);
    }
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
      if (event.target.closest("input, select, textarea, [contenteditable]")) return;
      const search = document.getElementById("search");
      if (event.key === "j") move(1);
      else if (event.key === "k") move(-1);
      else if (event.key === "?") keys.showModal();
      else if (event.key === "/" && search) search.focus();
      else return;
      event.preventDefault();
    });
  });
})();
