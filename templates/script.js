"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const said = document.getElementById("said");

  // Copying. A CSV cell that a spreadsheet would run as a formula is told to be text; a number stays one.
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const cellText = (cell) => {
    if (cell.dataset.v !== undefined) return cell.dataset.v;
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("small").forEach((note) => note.remove());
    return copy.textContent;
  };
  const csvCell = (text) => {
    const safe = /^[=+\-@\t\r\n]/.test(text) && !number.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const csv = (table) =>
    [...table.rows].map((row) => [...row.cells].map((cell) => csvCell(cellText(cell))).join(",")).join("\r\n") + "\r\n";
  const source = {
    sql: (button) => button.dataset.sql + ";",
    csv: (button) => csv(button.closest("figure").querySelector("table")),
    pre: (button) => button.parentElement.querySelector("pre").textContent + ";",
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "unseen";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("not copied");
    }
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const label = (button.dataset.label ??= button.textContent);
    try {
      await copy(source[button.dataset.copy](button));
      button.textContent = "copied";
    } catch {
      button.textContent = "not copied";
    }
    button.focus();
    said.textContent = `${label}: ${button.textContent}`;
    setTimeout(() => (button.textContent = label), 1600);
  });

  // A link to a view's SQL opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target?.closest("details")) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Paper has no toggles: tables and manifest are printed open, the SQL as it was left.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".folded:not([open]), .tree details:not([open])")];
    opened.forEach((fold) => (fold.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((fold) => (fold.open = false)));

  // Charts: plotly.js is unpacked from this page; colours are those of the style sheet.
  const specs = Object.entries(JSON.parse(document.getElementById("figures").textContent));
  const unpack = async () => {
    const packed = Uint8Array.from(atob(document.getElementById("plotly-gzip").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const code = document.createElement("script");
    code.textContent = await new Response(stream).text();
    document.head.append(code);
  };
  const coloured = (value) => {
    if (typeof value === "string") {
      const name = /^var\((--\w+)\)$/.exec(value);
      return name ? getComputedStyle(root).getPropertyValue(name[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]));
    return value;
  };
  const draw = () => {
    for (const [id, spec] of specs) {
      const { data, layout } = coloured(spec);
      Plotly.react(id, data, layout, { displayModeBar: false, displaylogo: false, responsive: true });
    }
  };
  const undrawn = () =>
    document.querySelectorAll(".chart .unscripted").forEach((note) => {
      note.textContent = "This browser cannot draw the curve; its numbers are in the table below.";
      note.style.visibility = "visible";
    });
  if (specs.length) {
    unpack()
      .then(() => {
        for (const [id] of specs) document.getElementById(id).replaceChildren();
        draw();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
        root.dataset.drawn = "yes";
      })
      .catch(undrawn);
  }
})();
