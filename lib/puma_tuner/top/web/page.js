"use strict";
// Draws what server-sent events tell. Names come from the app: they become text, never markup. What comes as markup are
// lanes, in which the command has escaped them, and whose script is lanes.js.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MOST = 150;
  const byId = (id) => document.getElementById(id);
  let parts = [], points = [], frozen = false, newest = null;

  // What is known of the connection: whoever goes on after a freeze is told the same as who never froze.
  const LINKS = {
    waiting: () => "Waiting for the first look …",
    live: () => "Live",
    silent: () => `Nothing new since ${new Date(heard).toLocaleTimeString()}`,
    lost: () => "The connection is lost; trying again …",
    closed: () => "The connection is closed; reload the page.",
    ended: () => "The server has ended."
  };
  const FINE = ["waiting", "live"];
  let link = "waiting", heard = Date.now();
  // Looks that are late by twice the pause between the last two are missed, and by ten seconds at least.
  const SILENCE_MS = 10_000, SILENCES = 3, UNKNOWN_PAUSE_MS = 40_000;
  const instant = (place) => Date.parse(points[points.length - place].at);
  const pause = () => points.length > 1 ? instant(1) - instant(2) : UNKNOWN_PAUSE_MS;

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const put = (id, text) => { if (byId(id).textContent !== text) byId(id).textContent = text; };
  const cell = (name, text, classes) => {
    const element = document.createElement(name);
    if (name === "th") element.scope = "row";
    if (classes) element.className = classes;
    element.textContent = text;
    return element;
  };

  const bar = (shares) => {
    const holder = cell("td", "", "bar");
    if (!shares) { holder.textContent = "unknown"; return holder; }
    const told = parts.filter((_, index) => shares[index] >= .005)
      .map((part) => `${part.word} ${Math.round(shares[parts.indexOf(part)] * 100)}%`).join(", ");
    const svg = make("svg", {role: "img", "aria-label": told});
    svg.append(make("title", {}, told));
    let at = 0;
    shares.forEach((share, index) => {
      const part = parts[index];
      svg.append(make("rect", {class: `part-${part.name}`, x: `${at * 100}%`, width: `${share * 100}%`, height: "100%"}));
      if (share > .08) svg.append(make("text", {class: `on on-${part.name}`, x: `${(at + share / 2) * 100}%`, y: "78%"}, part.letter));
      at += share;
    });
    holder.append(svg);
    return holder;
  };

  const fill = (id, rows, last) => {
    byId(id).tBodies[0].replaceChildren(...rows.map((row) => {
      const line = document.createElement("tr");
      const name = cell("th", row.name);
      name.title = row.name;
      line.append(name, ...row.cells.map((text) => cell("td", text, "number")), ...last(row));
      return line;
    }));
  };

  const legend = () => {
    byId("legend").replaceChildren(...parts.map((part) => {
      const item = document.createElement("li");
      const sign = make("svg", {"aria-hidden": "true"}, make("rect", {class: `part-${part.name}`, width: "100%", height: "100%"}),
        make("text", {class: `on on-${part.name}`, x: "50%", y: "75%"}, part.letter));
      item.title = part.meaning;
      item.append(sign, part.word);
      return item;
    }));
  };

  // A round number that is not less.
  const top = (most) => {
    const power = 10 ** Math.floor(Math.log10(most || 1));
    return [1, 2, 5, 10].map((step) => step * power).find((number) => number >= most);
  };
  const ROOM = {left: 40, top: 8, bottom: 8};
  const axes = (svg, most, unit) => {
    const {width, height} = svg.getBoundingClientRect();
    const y = (value) => ROOM.top + (1 - value / most) * (height - ROOM.top - ROOM.bottom);
    const x = (index) => ROOM.left + index * (width - ROOM.left - 4) / (MOST - 1);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren(...[0, .5, 1].flatMap((share) => [
      make("line", {class: "grid", x1: ROOM.left, x2: width, y1: y(share * most), y2: y(share * most)}),
      make("text", {x: ROOM.left - 4, y: y(share * most) + 4, "text-anchor": "end"}, `${+(share * most).toPrecision(3)}${unit}`)
    ]));
    return {x, y};
  };

  const lines = (id, names, label) => {
    const svg = byId(id);
    const {x, y} = axes(svg, top(Math.max(...points.flatMap((point) => names.map((name) => point[name[0]] || 0)), 1e-3)), "");
    const offset = MOST - points.length;
    for (const [name, shown] of names) {
      let path = "", pen = "M";
      points.forEach((point, index) => {
        if (point[name] === null) { pen = "M"; return; }
        path += `${pen}${x(offset + index).toFixed(1)},${y(point[name]).toFixed(1)}`;
        pen = "L";
      });
      svg.append(make("path", {class: shown, d: path}));
    }
    const now = points[points.length - 1] || {};
    svg.setAttribute("aria-label", `${label}: ${names.map(([name, shown]) => `${shown} now ${now[name] ?? "unknown"}`).join(", ")}`);
  };

  const areas = () => {
    const svg = byId("budget");
    const {x, y} = axes(svg, 100, "%");
    const offset = MOST - points.length;
    const step = (x(1) - x(0)) + .5;
    points.forEach((point, index) => {
      let at = 0;
      (point.parts || []).forEach((share, place) => {
        svg.append(make("rect", {class: `part-${parts[place].name}`, x: x(offset + index) - step, width: step,
          y: y((at + share) * 100), height: Math.max(y(at * 100) - y((at + share) * 100), 0)}));
        at += share;
      });
    });
    const now = points[points.length - 1];
    const told = now?.parts ? parts.map((part, index) => `${part.word} ${Math.round(now.parts[index] * 100)}%`).join(", ") : "unknown";
    svg.setAttribute("aria-label", `Parts of the requests' time now: ${told}`);
  };

  const charts = () => {
    lines("rate", [["per_s", "rate"]], "Requests per second");
    lines("latency", [["p50_ms", "p50"], ["p99_ms", "p99"]], "Latency in milliseconds");
    areas();
  };

  const draw = (status) => {
    const about = status.about;
    put("sentence", status.sentence);
    put("about", [about.topology, `${about.per_s} requests/s`, `p50 ${about.p50}, p99 ${about.p99}`,
      `${about.requests} in ${about.window}`, `process ${about.pid}${about.folder ? ` in ${about.folder}` : ""}`].filter(Boolean).join(" · "));
    put("cost", [status.cost && `This takes ${status.cost.status} of a core${status.cost.outlook ? `, its forecasts ${status.cost.outlook}` : ""}.`,
      status.why_not].filter(Boolean).join(" "));
    fill("endpoints", status.endpoints, (row) => [bar(row.parts), cell("td", row.cause)]);
    fill("workers", status.workers, () => []);
    fill("threads", status.threads, (row) => [bar(row.parts)]);
    const outlook = status.outlook;
    put("why-not", outlook.why_not ? `No forecast: ${outlook.why_not}.` : `Forecasts for the traffic of now, from ${outlook.requests}, with 95% intervals.`);
    put("recommended", `Recommended: ${status.recommended}.`);
    byId("recommended").hidden = !status.recommended;
    byId("outlook").hidden = Boolean(outlook.why_not);
    fill("outlook", outlook.rows || [], () => []);
    charts();
  };

  const tell = () => {
    const fine = FINE.includes(link);
    put("connection", [frozen && "Frozen", !(frozen && fine) && LINKS[link]()].filter(Boolean).join(" · "));
    byId("connection").classList.toggle("lost", !fine);
  };
  const become = (next) => { link = next; tell(); };

  byId("freeze").addEventListener("click", () => {
    frozen = !frozen;
    byId("freeze").setAttribute("aria-pressed", String(frozen));
    tell();
    if (!frozen && newest) draw(newest);
  });
  addEventListener("resize", () => { if (parts.length) charts(); });

  let recording = false;
  const record = async () => {
    const response = await fetch("lanes");
    const told = await response.text();
    if (!response.ok) return told;
    byId("lanes").innerHTML = told;
    for (const box of byId("lanes").querySelectorAll(".wide")) box.tabIndex = 0;
    showLanes();
    return `Recorded at ${new Date().toLocaleTimeString()}`;
  };
  byId("record").addEventListener("click", async () => {
    if (recording) return;
    recording = true;
    byId("record").setAttribute("aria-disabled", "true");
    put("recorded", "Recording for two seconds …");
    put("recorded", await record().catch(() => "Nothing was recorded: the connection is lost."));
    byId("record").removeAttribute("aria-disabled");
    recording = false;
  });

  const events = new EventSource("events");
  events.addEventListener("history", (event) => {
    ({parts, points} = JSON.parse(event.data));
    legend();
    if (link === "lost") become("waiting");
    if (!frozen) charts();
  });
  events.addEventListener("status", (event) => {
    newest = JSON.parse(event.data);
    if (points[points.length - 1]?.at !== newest.point.at) points = [...points, newest.point].slice(-MOST);
    heard = Date.now();
    become("live");
    if (!frozen) draw(newest);
  });
  events.addEventListener("ended", () => {
    events.close();
    become("ended");
  });
  // A browser tries again after a connection that broke, and not after a response that refused it: too many look already,
  // or it is another run of the command, with another token.
  events.addEventListener("error", () => become(events.readyState === EventSource.CLOSED ? "closed" : "lost"));
  setInterval(() => {
    if (link === "live" && Date.now() - heard > Math.max(SILENCE_MS, SILENCES * pause())) become("silent");
  }, 1_000);
})();
