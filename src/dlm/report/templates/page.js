"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  // ---------------------------------------------------------------- sliders that can play by themselves

  const slider = (input, button, show) => {
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
    input.addEventListener("input", () => show(Number(input.value)));
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      if (input.value === input.max) input.value = input.min;
      button.textContent = "Pause";
      show(Number(input.value));
      timer = setInterval(() => {
        if (input.value === input.max) return stop();
        input.value = Number(input.value) + 1;
        show(Number(input.value));
      }, 700);
    });
    show(Number(input.value));
  };

  if ($("step")) {
    const frames = [...$("frames").children];
    slider($("step"), $("run-episode"), (now) => {
      frames.forEach((frame, place) => { frame.hidden = place !== now - 1; });
      $("step-now").textContent = now;
    });
  }

  if ($("when")) {
    const film = JSON.parse($("film-data").textContent);
    const meters = [...$("film").querySelectorAll("meter")];
    slider($("when"), $("run-film"), (now) => {
      meters.forEach((meter, place) => { meter.value = film.shares[place][now]; });
      $("when-now").textContent = film.steps[now];
      $("heat-now").textContent = film.temperatures[now];
    });
  }

  // ---------------------------------------------------------------- tabs, copying, the front

  for (const list of document.querySelectorAll("[role=tablist]")) {
    list.hidden = false;
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const open = (chosen) => {
      for (const tab of tabs) {
        const panel = $(tab.getAttribute("aria-controls"));
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", tab.id);
        panel.hidden = tab !== chosen;
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
      }
    };
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => open(tab));
      tab.addEventListener("keydown", (event) => {
        const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!move) return;
        const next = tabs[(place + move + tabs.length) % tabs.length];
        open(next);
        next.focus();
      });
    });
    open(tabs[0]);
  }

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const text = button.closest(".code").querySelector("pre");
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  for (const point of document.querySelectorAll("[data-front]"))
    point.addEventListener("click", () => {
      const items = [...$("front-items").children];
      items.forEach((item, place) => { item.open = place === Number(point.dataset.front); });
    });

  // ---------------------------------------------------------------- the playground

  if (typeof PLAY === "undefined") return;
  const { program, tables, world } = PLAY;
  const target = program.definitions[program.definitions.length - 1];
  const objects = world.objects;
  const rows = new Map(tables.map(({ name }) => [name, world.tables[name].map((row) => [...row])]));
  const removed = new Map(tables.map(({ name }) => [name, []]));
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u;
  const word = (name) => (plain.test(name) ? name : `'${name}'`);
  const shown = (table, row) =>
    table.kind ? `${word(table.name)}(${row[0]}) = ${row[1]}` : `${word(table.name)}(${row.join(", ")})`;
  const atomText = (predicate, args) => `${word(predicate)}(${args.join(", ")})`;

  const relations = () => {
    const found = Object.create(null);
    for (const [name, all] of rows) found[name] = all;
    return found;
  };

  // Truth and reasons of formulas under a binding of variables to objects; definitions are asked of the program itself.
  const compare = { "=": (v, w) => v === w, "<": (v, w) => v < w, "<=": (v, w) => v <= w, ">": (v, w) => v > w, ">=": (v, w) => v >= w };
  let known = new Map();
  let now = relations();
  const values = (name, object) => now[name].filter((row) => row[0] === object).map((row) => row[1]);
  const compared = (predicate, args) => {
    const { attribute, operator, constant, other } = PLAY.comparisons[predicate];
    const right = other === null ? [constant] : values(other, args[1]);
    return values(attribute, args[0]).some((v) => right.some((w) => compare[operator](v, w)));
  };
  const holdsAtom = (predicate, args) => {
    if (known.has(predicate)) return known.get(predicate)(...args);
    if (Object.hasOwn(PLAY.comparisons, predicate)) return compared(predicate, args);
    return now[predicate].some((row) => same(row, args));
  };
  const range = (formula, binding) => {
    const others = formula.distinct.map((name) => binding[name]);
    return objects.filter((object) => !others.includes(object));
  };
  const bound = (formula, binding, object) => ({ ...binding, [formula.variable]: object });
  const holds = (formula, binding) => {
    switch (formula.kind) {
      case "atom": return holdsAtom(formula.predicate, formula.args.map((name) => binding[name]));
      case "equal": return binding[formula.left] === binding[formula.right];
      case "truth": return formula.value;
      case "not": return !holds(formula.body, binding);
      case "and": return formula.parts.every((part) => holds(part, binding));
      case "or": return formula.parts.some((part) => holds(part, binding));
      case "exists": return range(formula, binding).some((object) => holds(formula.body, bound(formula, binding, object)));
      default: return range(formula, binding).every((object) => holds(formula.body, bound(formula, binding, object)));
    }
  };
  const definitions = new Map(program.definitions.map((each) => [each.name, each]));

  // A tree of lines: why a formula has the value it has.
  const why = (formula, binding, depth) => {
    const value = holds(formula, binding);
    switch (formula.kind) {
      case "atom": return [whyAtom(formula.predicate, formula.args.map((name) => binding[name]), depth)];
      case "equal": return [{ text: `${binding[formula.left]} ${value ? "is" : "is not"} ${binding[formula.right]}`, parts: [] }];
      case "truth": return [{ text: `${formula.value}`, parts: [] }];
      case "not": return why(formula.body, binding, depth);
      case "and": case "or": {
        const all = (formula.kind === "and") === value;
        const chosen = all ? formula.parts : [formula.parts.find((part) => holds(part, binding) === value)];
        return chosen.flatMap((part) => why(part, binding, depth));
      }
      default: {
        const single = (formula.kind === "exists") === value;
        const within = range(formula, binding);
        if (!single) {
          const text = formula.kind === "exists" ? `no ${formula.variable} of ${within.length} fits` : `it is so for all ${within.length} ${formula.variable}`;
          return [{ text, parts: [] }];
        }
        const object = within.find((each) => holds(formula.body, bound(formula, binding, each)) === value);
        return [{ text: `${formula.variable} = ${object}`, parts: why(formula.body, bound(formula, binding, object), depth) }];
      }
    }
  };
  const whyAtom = (predicate, args, depth) => {
    const value = holdsAtom(predicate, args), defined = definitions.get(predicate);
    const comparison = Object.hasOwn(PLAY.comparisons, predicate) ? PLAY.comparisons[predicate] : null;
    const name = comparison ? comparison.text.replace("?1", () => args[0]).replace("?2", () => args[1] ?? "") : atomText(predicate, args);
    if (!defined) return { text: `${name} is ${comparison ? value : value ? "a fact" : "not a fact"}`, parts: [] };
    if (depth > 12) return { text: `${name} is ${value}`, parts: [] };
    const binding = Object.fromEntries(defined.parameters.map((variable, place) => [variable, args[place]]));
    return { text: `${name} is ${value}, because`, parts: why(defined.body, binding, depth + 1) };
  };
  const list = (lines) =>
    make("ul", {}, ...lines.map(({ text, parts }) => make("li", {}, text, ...(parts.length ? [list(parts)] : []))));

  const tuples = (arity) => (arity === 0 ? [[]] : tuples(arity - 1).flatMap((row) => objects.map((object) => [...row, object])));
  const space = tuples(target.parameters.length);
  let answers = [];
  let asked = null;

  const update = () => {
    now = relations();
    known = PLAY.run(objects, now, true);
    answers = space.filter((row) => known.get(target.name)(...row));
    drawFacts();
    drawAnswers();
    drawWorld();
    if (asked !== null) explainAtom(asked);
  };

  const toggle = (table, row) => {
    const there = rows.get(table.name), gone = removed.get(table.name);
    const place = there.findIndex((each) => same(each, row));
    if (place >= 0) {
      there.splice(place, 1);
      gone.push(row);
    } else {
      there.push(row);
      removed.set(table.name, gone.filter((each) => !same(each, row)));
    }
    update();
  };

  // The items of a list by key: those that stay are not made anew, so that a click lays out little.
  const keyed = (holder, make) => {
    let kept = new Map();
    return (rows) => {
      const wanted = new Map(rows.map((row) => [JSON.stringify(row), row]));
      for (const [key, item] of kept) if (!wanted.has(key)) item.remove();
      const found = new Map();
      let next = holder.firstChild;
      for (const [key, row] of wanted) {
        const item = kept.get(key) ?? make(row);
        found.set(key, item);
        if (item === next) next = next.nextSibling;
        else holder.insertBefore(item, next);
      }
      kept = found;
      return kept;
    };
  };
  const chip = (text, press) => {
    const button = make("button", { type: "button", textContent: text });
    button.addEventListener("click", press);
    return make("li", {}, button);
  };

  const factLists = tables.map((table) => {
    const holder = make("ul", { className: "chips" });
    $("facts").append(holder);
    return keyed(holder, (row) => chip(shown(table, row), () => toggle(table, row)));
  });
  const drawFacts = () => {
    tables.forEach((table, number) => {
      const there = new Set(rows.get(table.name).map((row) => JSON.stringify(row)));
      const all = [...rows.get(table.name), ...removed.get(table.name)];
      all.sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
      for (const [key, item] of factLists[number](all)) item.firstChild.setAttribute("aria-pressed", there.has(key));
    });
  };

  const LISTED = 200;
  const answerList = make("ul", { className: "chips", id: "answer-list" });
  $("answers-now").replaceChildren(answerList);
  const showAnswers = keyed(answerList, (row) => chip(atomText(target.name, row), () => explainAtom(row)));
  const drawAnswers = () => {
    const listed = answers.length > LISTED ? ` The first ${LISTED} are listed.` : "";
    $("count").textContent = `${answers.length} of ${space.length} are true of ${word(target.name)}.${listed}`;
    showAnswers(answers.slice(0, LISTED));
  };

  const explainAtom = (row) => {
    asked = row;
    $("reason").replaceChildren(list([whyAtom(target.name, row, 0)]));
  };

  // A choice of objects for each argument, or a value to type.
  const choices = (holder, labels) => {
    holder.replaceChildren(...labels.map(({ label, kind }) => {
      const input = kind ? make("input", { type: kind === "number" ? "number" : "text", size: 8, step: "any", required: true }) : make("select");
      if (!kind) input.append(...objects.map((object) => make("option", { textContent: object, value: object })));
      return make("label", {}, `${label} `, input);
    }));
    return () => [...holder.querySelectorAll("select, input")].map((input) => (input.type === "number" ? Number(input.value) : input.value));
  };

  let reading = () => [];
  const selected = () => tables[$("predicate").selectedIndex];
  const choosePredicate = () => {
    const table = selected();
    if (!table) return;
    const labels = table.kind ? [{ label: "of" }, { label: "value", kind: table.kind }] : Array.from({ length: table.arity }, (_, place) => ({ label: `argument ${place + 1}` }));
    reading = choices($("arguments"), labels);
    $("hint").textContent = table.kind || table.arity > 2 || table.arity === 0 ? "" :
      table.arity === 1 ? `Click an object to change ${word(table.name)} of it.` : `Click two objects, one after the other, to change ${word(table.name)} of them.`;
  };

  // ---------------------------------------------------------------- the drawing

  let picked = null;
  const places = new Map(objects.map((object, number) => {
    const angle = (2 * Math.PI * number) / objects.length - Math.PI / 2;
    return [object, [Math.cos(angle), Math.sin(angle)].map((part) => Math.round(9200 * part) / 100)];
  }));
  const edge = ([from, to]) => {
    const [x, y] = places.get(from), [u, v] = places.get(to);
    return from === to ? `M ${x} ${y} q 14 -16 0 -18 q -14 2 0 18` : `M ${x} ${y} Q ${(x + u) / 3} ${(y + v) / 3} ${u} ${v}`;
  };
  // The edges of a relation are one path.
  const drawn = tables.map((table, number) => [table, svg("path", { class: `edge edge-${number % 4}` })])
    .filter(([table]) => !table.kind && table.arity === 2);
  const answerEdges = svg("path", { class: "edge answer-edge" });
  const nodes = new Map(objects.map((object) => {
    const [x, y] = places.get(object);
    const node = svg("circle", { cx: x, cy: y, r: 8 });
    node.addEventListener("click", () => pick(object));
    return [object, node];
  }));
  $("drawing").replaceChildren(...drawn.map(([, path]) => path), answerEdges, ...[...nodes].flatMap(([object, node]) => {
    const [x, y] = places.get(object);
    const label = svg("text", { x, y: y + 2 });
    label.textContent = object.length > 8 ? `${object.slice(0, 7)}…` : object;
    return [node, label];
  }));
  const drawWorld = () => {
    for (const [table, path] of drawn) path.setAttribute("d", rows.get(table.name).map(edge).join(" "));
    answerEdges.setAttribute("d", target.parameters.length === 2 ? answers.map(edge).join(" ") : "");
    const chosen = new Set(target.parameters.length === 1 ? answers.map(([object]) => object) : []);
    for (const [object, node] of nodes)
      node.setAttribute("class", `node${chosen.has(object) ? " answer-node" : ""}${picked === object ? " picked" : ""}`);
  };
  const pick = (object) => {
    const table = selected();
    if (!table || table.kind || table.arity === 0 || table.arity > 2) return;
    if (table.arity === 1) return toggle(table, [object]);
    if (picked === null) {
      picked = object;
      return drawWorld();
    }
    const row = [picked, object];
    picked = null;
    return toggle(table, row);
  };

  // ---------------------------------------------------------------- beginning

  $("predicate").append(...tables.map((table) => make("option", { textContent: table.name })));
  $("predicate").addEventListener("change", choosePredicate);
  $("adding").hidden = tables.length === 0;
  choosePredicate();
  $("adding").addEventListener("submit", (event) => {
    event.preventDefault();
    const row = reading();
    if (!rows.get(selected().name).some((each) => same(each, row))) toggle(selected(), row);
  });
  const asking = choices($("asked"), target.parameters.map((label) => ({ label })));
  $("asking").addEventListener("submit", (event) => {
    event.preventDefault();
    explainAtom(asking());
  });
  $("playground").hidden = false;
  update();
})();
