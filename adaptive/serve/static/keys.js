// A digit chooses the answer that shows it, or gives it where a tap does. Everything works without this.
"use strict";
document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target instanceof HTMLInputElement && event.target.type === "text") return;
  if (!/^[0-9]$/.test(event.key)) return;
  var choice = document.querySelector("[name=answer][data-key=\"" + event.key + "\"]");
  if (!choice) return;
  event.preventDefault();
  choice.focus();
  if (choice.type === "radio") choice.checked = true; else choice.click();
});
