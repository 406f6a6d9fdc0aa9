// Keys 1 to 9 choose an answer, 0 the tenth. Everything works without this.
"use strict";
document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target instanceof HTMLInputElement && event.target.type === "text") return;
  if (!/^[0-9]$/.test(event.key)) return;
  var place = event.key === "0" ? 9 : Number(event.key) - 1;
  var choice = document.querySelectorAll("input[name=answer][type=radio]")[place];
  if (choice) { choice.checked = true; choice.focus(); event.preventDefault(); }
});
