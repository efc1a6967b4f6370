// Threads over time: move, zoom, and who had the GVL during a wait. What is seen at first is there without this script.
//
// All pictures of a page have one scale, so that 5 threads can be held against 3; each is at a place of its own. Times are
// microseconds since the process began to record.
const showLanes = (() => {
  const told = (us) => us < 1000 ? `${us} µs` : us < 1e6 ? `${+(us / 1000).toPrecision(3)} ms` : `${+(us / 1e6).toPrecision(3)} s`;
  const SVG = "http://www.w3.org/2000/svg";
  const LEAST_US = 50;
  const charts = [];
  let span = 0; // of all pictures

  const begin = (root, number) => {
    const kinds = root.dataset.kinds.split(" "), words = root.dataset.words.split("|"), height = Number(root.dataset.height);
    const [whole, stretch, works, packed] = JSON.parse(root.dataset.lanes);
    const rows = root.querySelector(".lane-rows"), axis = root.querySelector(".lane-axis"), said = root.querySelector(".lane-said");
    const [HELD, GC, WAIT, IDLE] = ["held", "gc", "gvl_wait", "idle"].map((kind) => kinds.indexOf(kind));

    // Each lane: where its steps begin, of what kind they are, and where the last one ends.
    const lanes = packed.map(([name, from, steps, worked], index) => {
      const starts = [], codes = [];
      let at = from;
      for (let i = 0; i < steps.length; i += 2) { codes.push(steps[i]); starts.push(at); at += steps[i + 1]; }
      const requests = [];
      for (let i = 0; i < worked.length; i += 3) requests.push({name: works[worked[i]], from: worked[i + 1], to: worked[i + 1] + worked[i + 2]});
      const row = rows.querySelectorAll(".lane")[index];
      return {name, starts: [...starts, at], codes, requests, row, svg: row.querySelector("svg")};
    });
    let from = stretch[0], chosen = 0, marked = null;
    span = Math.max(span, stretch[1] - stretch[0]);

    // The step at that instant, or the next one.
    const stepAt = (lane, us) => {
      let low = 0, high = lane.codes.length;
      while (low < high) { const middle = (low + high) >> 1; if (lane.starts[middle + 1] <= us) low = middle + 1; else high = middle; }
      return low;
    };
    const workAt = (lane, us) => lane.requests.find((one) => one.from <= us && us < one.to)?.name;

    const waits = lanes.flatMap((lane, index) => lane.codes.flatMap((code, i) => code === WAIT ? [{index, from: lane.starts[i], to: lane.starts[i + 1]}] : []))
      .sort((a, b) => b.to - b.from - a.to + a.from);
    let next = 0;

    // Who had the GVL from one instant to another: spans of other lanes.
    const holders = (index, begin, end) => lanes.flatMap((lane, other) => {
      if (other === index) return [];
      const found = [];
      for (let i = stepAt(lane, begin); i < lane.codes.length && lane.starts[i] < end; i++) {
        if (lane.codes[i] !== HELD && lane.codes[i] !== GC) continue;
        const held = {lane, from: Math.max(begin, lane.starts[i]), to: Math.min(end, lane.starts[i + 1])};
        held.work = workAt(lane, held.from);
        found.push(held);
      }
      return found;
    });

    const sentence = (index, begin, end) => {
      const sums = new Map();
      for (const held of holders(index, begin, end)) {
        const who = held.lane.name + (held.work ? ` (${held.work})` : "");
        sums.set(who, (sums.get(who) ?? 0) + held.to - held.from);
      }
      const sorted = [...sums].sort((a, b) => b[1] - a[1]);
      const rest = end - begin - sorted.reduce((sum, [, us]) => sum + us, 0);
      const texts = sorted.slice(0, 4).map(([who, us]) => `by ${who} for ${told(us)}`);
      if (sorted.length > 4) texts.push(`by others for ${told(sorted.slice(4).reduce((sum, [, us]) => sum + us, 0))}`);
      if (rest > (end - begin) / 100) texts.push(`for ${told(rest)} by nobody yet`);
      const work = workAt(lanes[index], begin);
      return `${lanes[index].name}${work ? ` (${work})` : ""} could run and did nothing for ${told(end - begin)}, from ${told(begin)} on. Meanwhile the GVL was held ${texts.join(", ")}.`;
    };

    const element = (name, attributes) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };

    // Boxes of a lane by kind, in a picture so many pixels wide; what is narrower than one is stacked.
    const boxes = (lane, wide) => {
      const column = span / wide, paths = kinds.map(() => ""), part = kinds.map(() => 0);
      let open = -1;
      const close = () => {
        if (open < 0) return;
        let y = height;
        part.forEach((share, kind) => {
          if (share && kind !== IDLE) { y -= share * height; paths[kind] += `M${open} ${y.toFixed(1)}h1v${(share * height).toFixed(1)}h-1z`; }
          part[kind] = 0;
        });
        open = -1;
      };
      const add = (place, kind, share) => { if (place !== open) { close(); open = place; } part[kind] += share; };
      for (let i = stepAt(lane, from); i < lane.codes.length && lane.starts[i] < from + span; i++) {
        const kind = lane.codes[i];
        const a = Math.max((lane.starts[i] - from) / column, 0), b = Math.min((lane.starts[i + 1] - from) / column, wide);
        const first = Math.floor(a), last = Math.floor(b);
        if (first === last) { add(first, kind, b - a); continue; }
        let full = first;
        if (a > first) { add(first, kind, first + 1 - a); full++; }
        close();
        if (last > full && kind !== IDLE) paths[kind] += `M${full} 0h${last - full}v${height}h${full - last}z`;
        if (b > last) add(last, kind, b - last);
      }
      close();
      return paths;
    };

    const hatch = `lane-hatch-${number}`;
    const frame = (one, wide, name) => {
      const x = (one.from - from) / span * wide, w = (one.to - one.from) / span * wide;
      return element("rect", {class: name, x: x + 1, y: 1, width: Math.max(w - 2, 1), height: height - 2});
    };

    const draw = () => {
      const wide = Math.max(Math.round(lanes[0].svg.getBoundingClientRect().width), 50);
      const step = [1, 2, 5].flatMap((n) => [0, 1, 2, 3, 4, 5, 6].map((power) => n * 10 ** power)).sort((a, b) => a - b).find((us) => us / span * wide >= 70) ?? 1e7;
      const ticks = [];
      for (let us = Math.ceil(from / step) * step; us <= from + span; us += step) ticks.push(us);
      axis.replaceChildren(...ticks.map((us) => {
        const at = document.createElement("span");
        at.className = "at";
        const place = (us - from) / span * 100;
        at.style.left = `${place}%`;
        if (place < 5 || place > 95) at.style.transform = `translateX(${place < 5 ? 0 : -100}%)`;
        at.textContent = `${+(us / 1000).toFixed(3)} ms`;
        return at;
      }));
      const held = marked ? holders(marked.index, marked.from, marked.to) : [];
      lanes.forEach((lane, index) => {
        const {svg} = lane;
        svg.setAttribute("viewBox", `0 0 ${wide} ${height + 5}`);
        const made = ticks.map((us) => element("path", {class: "lane-grid", d: `M${((us - from) / span * wide).toFixed(1)} 0v${height + 5}`}));
        boxes(lane, wide).forEach((d, kind) => {
          if (!d) return;
          made.push(element("path", {class: `lane-${kinds[kind]}`, d}));
          if (kind === WAIT) made.push(element("path", {fill: `url(#${hatch})`, d}));
        });
        const spans = lane.requests.filter((one) => one.to > from && one.from < from + span).map((one) => {
          const x = Math.max((one.from - from) / span * wide, 0), end = Math.min((one.to - from) / span * wide, wide);
          return `M${x.toFixed(1)} ${height + 1}h${Math.max(end - x - 1, .5).toFixed(1)}v3H${x.toFixed(1)}z`;
        });
        made.push(element("path", {class: "lane-work", d: spans.join("")}));
        if (marked?.index === index) made.push(frame(marked, wide, "lane-wait"));
        made.push(...held.filter((one) => one.lane === lane).map((one) => frame(one, wide, "lane-holder")));
        svg.replaceChildren(...made);
        lane.row.classList.toggle("chosen", index === chosen);
      });
    };

    const show = (mark) => { marked = mark; said.textContent = sentence(mark.index, mark.from, mark.to); };
    const move = (to) => { from = Math.min(Math.max(to, 0), Math.max(whole - span, 0)); };
    const zoom = (factor, middle) => {
      const longest = Math.max(...charts.map((chart) => chart.whole));
      const wanted = Math.min(Math.max(span * factor, LEAST_US), longest);
      for (const chart of charts) chart.rescale(wanted / span, chart.root === root ? middle : undefined);
      span = wanted;
      for (const chart of charts) { chart.settle(); chart.draw(); }
    };
    charts.push({root, whole, draw, settle: () => move(from), rescale: (factor, middle = from + span / 2) => { from = middle - (middle - from) * factor; }});

    // What one looks at stays where it is: the wait that is told of, as far as it is seen.
    const looked = () => {
      const middle = marked ? (marked.from + marked.to) / 2 : from;
      return middle > from && middle < from + span ? middle : from + span / 2;
    };
    const go = (mark) => {
      chosen = mark.index;
      if (mark.to - mark.from > span) zoom((mark.to - mark.from) * 1.5 / span);
      move((mark.from + mark.to) / 2 - span / 2);
      show(mark);
    };
    const keys = {
      ArrowLeft: () => move(from - span / 5), ArrowRight: () => move(from + span / 5),
      ArrowUp: () => { chosen = Math.max(chosen - 1, 0); tell(); }, ArrowDown: () => { chosen = Math.min(chosen + 1, lanes.length - 1); tell(); },
      "+": () => zoom(1 / 1.6, looked()), "=": () => zoom(1 / 1.6, looked()), "-": () => zoom(1.6, looked()), Home: () => { zoom(whole / span); move(0); },
      n: () => { if (waits.length) go(waits[next++ % waits.length]); },
    };
    // What the chosen thread does in the middle of the picture.
    const tell = () => pick(chosen, from + span / 2);
    const pick = (index, us) => {
      const lane = lanes[index], i = stepAt(lane, us), code = lane.codes[i];
      if (i >= lane.codes.length || lane.starts[i] > us) return;
      if (code === WAIT) return show({index, from: lane.starts[i], to: lane.starts[i + 1]});
      marked = null;
      const work = workAt(lane, us);
      said.textContent = `${lane.name}${work ? ` (${work})` : ""}: ${words[code]}, ${told(lane.starts[i + 1] - lane.starts[i])} from ${told(lane.starts[i])} on.`;
    };

    const at = (event) => {
      const box = lanes[0].svg.getBoundingClientRect();
      return from + (event.clientX - box.left) / box.width * span;
    };
    const pointers = new Map();
    let pinched = 0;
    rows.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event.clientX); if (event.target.closest(".lane")) rows.setPointerCapture(event.pointerId); });
    for (const name of ["pointerup", "pointercancel"]) rows.addEventListener(name, (event) => { pointers.delete(event.pointerId); pinched = 0; });
    rows.addEventListener("pointermove", (event) => {
      const box = lanes[0].svg.getBoundingClientRect();
      if (pointers.has(event.pointerId)) {
        const moved = event.clientX - pointers.get(event.pointerId);
        pointers.set(event.pointerId, event.clientX);
        if (pointers.size === 2) {
          const [one, other] = [...pointers.values()], apart = Math.abs(one - other);
          if (pinched && apart) zoom(pinched / apart, from + ((one + other) / 2 - box.left) / box.width * span);
          pinched = apart;
        } else move(from - moved / box.width * span);
        draw();
        return;
      }
      const index = lanes.findIndex((lane) => lane.row.contains(event.target));
      if (index >= 0 && event.clientX >= box.left) { pick(index, at(event)); draw(); }
    });
    rows.addEventListener("click", (event) => {
      const index = lanes.findIndex((lane) => lane.row.contains(document.elementFromPoint(event.clientX, event.clientY)));
      if (index >= 0) { chosen = index; pick(index, at(event)); draw(); }
    });
    rows.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
    }, {passive: false});
    rows.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
      draw();
    });
    for (const button of root.querySelectorAll("[data-key]")) button.addEventListener("click", () => { keys[button.dataset.key](); draw(); });

    const pattern = element("svg", {width: 0, height: 0, "aria-hidden": "true", class: "lane-pattern"});
    const lines = element("pattern", {id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"});
    lines.append(element("path", {class: "lane-hatch", d: "M0 0v6"}));
    pattern.append(lines);
    root.append(pattern);
    root.querySelector(".lane-keys").hidden = false;
    rows.tabIndex = 0;
    rows.setAttribute("role", "application");
    rows.setAttribute("aria-label", root.getAttribute("aria-label"));
    if (waits.length) { show(waits[0]); chosen = waits[0].index; next = 1; }
  };

  addEventListener("resize", () => { for (const chart of charts) chart.draw(); });

  // Begins with the pictures that the page has now; others that it had before are forgotten.
  return () => {
    charts.length = span = 0;
    document.querySelectorAll(".lanes").forEach(begin);
    for (const chart of charts) { chart.settle(); chart.draw(); }
  };
})();
showLanes();
