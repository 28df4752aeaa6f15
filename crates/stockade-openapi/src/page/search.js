"use strict";
(() => {
  const box = document.querySelector("search");
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const items = [...document.querySelectorAll("nav li, main section section")].map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
  }));
  const groups = [...document.querySelectorAll("nav h3, main > section")];

  function isEmpty(group) {
    const next = group.nextElementSibling;
    const list = group.tagName === "H3" ? next : group;
    if (group.tagName === "H3" && next?.tagName !== "UL") return false;
    const own = [...list.querySelectorAll("li, section")];
    return own.length > 0 && own.every((element) => element.closest("[hidden]"));
  }

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    groups.forEach((group) => { group.hidden = false; });
    for (const { element, text } of items) {
      element.hidden = !words.every((word) => text.includes(word));
    }
    groups.forEach((group) => { group.hidden = words.length > 0 && isEmpty(group); });
    const count = items.filter(({ element }) => element.matches("nav li") && !element.hidden).length;
    found.textContent = words.length === 0 ? "" : `${count} of the operations`;
  }

  function open(hash) {
    const target = document.getElementById(decodeURIComponent(hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  }

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      search();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      const first = document.querySelector("nav li:not([hidden]) a");
      if (first) {
        event.preventDefault();
        first.focus();
        if (event.key === "Enter") first.click();
      }
    }
  });
  input.addEventListener("input", search);
  window.addEventListener("hashchange", () => open(location.hash));
  open(location.hash);
  box.hidden = false;
})();
