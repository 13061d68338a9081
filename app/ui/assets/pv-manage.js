// The tab Verwaltung: reads a chosen file into its form, and asks again while something is running.
(() => {
  "use strict";
  const POLL_MILLISECONDS = 1500;
  const LOST_MILLISECONDS = 20_000; // after this a question without answer is asked again
  let asked = -Infinity;

  function send(channel, command) {
    const box = document.querySelector(`#pv-${channel}-box textarea, #pv-${channel}-box input`);
    if (!box) return;
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, JSON.stringify(command));
    box.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById(`pv-${channel}-send`).click();
  }

  setInterval(() => {
    if (document.hidden || performance.now() - asked < LOST_MILLISECONDS) return;
    const polls = [...document.querySelectorAll(".pv-poll")].filter((one) => one.offsetParent !== null);
    const poll = polls.find((one) => one.dataset.job) ?? polls[0];
    if (!poll) return;
    const { channel, command, ...rest } = poll.dataset;
    asked = performance.now();
    send(channel, { do: command, ...rest });
  }, POLL_MILLISECONDS);

  // A slow server is not asked again before it has answered.
  document.addEventListener("pv-message", () => { asked = -Infinity; });

  // Bytes, not text: whether they are UTF-8 is for the server to say.
  const base64 = (file) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

  document.addEventListener("change", async (event) => {
    const input = event.target.closest("input[type=file][data-into]");
    const file = input?.files[0];
    if (!file) return;
    const most = Number(input.dataset.most);
    const large = file.size > most;
    const { file: name, [input.dataset.into]: data } = input.form.elements;
    data.value = "";
    if (large) {
      input.setCustomValidity(`Die Datei ist zu groß; erlaubt sind ${Math.floor(most / 1024 / 1024)} MB.`);
      input.reportValidity();
      return;
    }
    input.setCustomValidity("Die Datei wird noch gelesen.");
    name.value = file.name;
    data.value = await base64(file);
    input.setCustomValidity("");
  });

  // A file is chosen for one sending: the same name chosen again is no change for the browser, and its old content would go out.
  document.addEventListener("submit", (event) => {
    const input = event.target.querySelector?.("input[type=file][data-into]");
    if (!input) return;
    setTimeout(() => {
      event.target.elements[input.dataset.into].value = "";
      input.value = "";
    }, 0);
  });
})();
