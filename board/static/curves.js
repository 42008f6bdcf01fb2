import {el, get, repeat, number} from './board.js';

// Choices stay while other pages are seen.
const choice = {log: false, smooth: 0, without: new Set(), from: '', to: '', hidden: new Set()};

export function curves(page, [list]) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chart, shown, drawn = '', again = false, stamps = '';
  const box = el('div', {id: 'chart'});
  const readout = el('div', {className: 'readout'});
  const legend = el('div', {className: 'legend'});
  const metrics = el('span', {className: 'controls'});
  const input = (name, label, attributes) => el('label', {}, label, el('input', {name, ...attributes}));
  const smooth = input('smooth', 'smoothing', {type: 'range', min: 0, max: .99, step: .01, value: choice.smooth,
    oninput: e => { choice.smooth = +e.target.value; ask(); }});
  const from = input('from', 'steps', {type: 'number', min: 0, value: choice.from,
    onchange: e => zoom(e.target.value, choice.to)});
  const to = input('to', '–', {type: 'number', min: 0, value: choice.to,
    onchange: e => zoom(choice.from, e.target.value)});
  const zoom = (a, b) => {
    choice.from = from.lastChild.value = a;
    choice.to = to.lastChild.value = b;
    ask();
  };
  page.append(el('h1', {}, list.includes(',') ? `Runs ${list.replaceAll(',', ', ').slice(0, 60)}${list.length > 50 ? ' …' : ''}` :
    `Run ${list}`),
  el('div', {className: 'controls'},
    input('log', 'log axis', {type: 'checkbox', checked: choice.log,
      onchange: e => { choice.log = e.target.checked; drawn = ''; draw(); }}),
    smooth, from, to, el('button', {onclick: () => zoom('', '')}, 'all steps'), metrics),
  box, readout, legend, el('p', {className: 'faint'}, 'Drag over the chart to zoom, double-click for all steps.'));

  // ask reads the lines for the present choices; if they change meanwhile, once more.
  let asking = false;
  const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    try {
      do {
        again = false;
        await load();
      } while (again);
    } finally {
      asking = false;
    }
  };
  const load = async signal => {
    const query = {run: list, points: points()};
    if (choice.smooth) query.smooth = choice.smooth;
    if (choice.from !== '') query.from = choice.from;
    if (choice.to !== '') query.to = choice.to;
    shown = await get('curves', query, signal);
    draw();
  };

  // Many lines have fewer points each; the extremes are drawn in any case.
  const points = () => Math.round(Math.max(300, Math.min(2000, box.clientWidth * devicePixelRatio,
    60000 / list.split(',').length)));

  const draw = () => {
    if (!shown) return;
    const all = [...new Set(shown.lines.map(l => l.metric))];
    metrics.replaceChildren(...all.map(m => el('label', {}, el('input', {type: 'checkbox', checked: !choice.without.has(m),
      onchange: e => { e.target.checked ? choice.without.delete(m) : choice.without.add(m); draw(); }}), m)));
    const lines = shown.lines.filter(l => !choice.without.has(l.metric));
    const runs = [...new Set(shown.lines.map(l => l.run))];
    const colour = l => {
      const i = runs.indexOf(l.run);
      return `hsl(${(205 + i * 137.508) % 360} 70% ${dark.matches ? 65 : 40}%)`;
    };
    const data = [shown.x, ...lines.map(l => choice.log ? l.y.map(v => v > 0 ? v : null) : l.y)];
    performance.mark('chart begins');
    const key = JSON.stringify([lines.map(l => [l.run, l.metric]), dark.matches, choice.log]);
    if (chart && key === drawn) {
      chart.setData(data);
      return;
    }
    drawn = key;
    chart?.destroy();
    chart = null;
    legend.replaceChildren();
    readout.textContent = lines.length ? '' : 'There are no steps yet.';
    if (!lines.length) return;
    chart = new uPlot(settings(lines, colour), data, box);
    legend.replaceChildren(...lines.map((l, i) => el('button', {ariaPressed: `${!choice.hidden.has(name(l))}`,
      onclick: e => {
        const off = !choice.hidden.delete(name(l));
        if (off) choice.hidden.add(name(l));
        e.currentTarget.setAttribute('aria-pressed', `${!off}`);
        chart.setSeries(i + 1, {show: !off});
      }}, el('svg', {viewBox: '0 0 28 12'}, el('line', {x1: 0, x2: 28, y1: 6, y2: 6, stroke: colour(l),
      'stroke-width': 4, 'stroke-dasharray': dash(l).join(' ')})), name(l))));
  };

  const name = l => `run ${l.run} ${l.metric}`;
  const dash = l => l.metric === 'loss' ? [] : [8, 4];
  const settings = (lines, colour) => {
    const css = n => getComputedStyle(document.documentElement).getPropertyValue(n).trim();
    const axis = {stroke: css('--faint'), grid: {stroke: css('--line'), width: 1}, ticks: {stroke: css('--line'), width: 1},
      font: '12px system-ui, sans-serif'};
    return {
      width: box.clientWidth, height: height(), legend: {show: false}, focus: {alpha: .25},
      cursor: {drag: {x: true, y: false, setScale: false}, focus: {prox: 24}, points: {size: 7},
        bind: {dblclick: () => () => { zoom('', ''); return null; }}},
      scales: {x: {time: false}, y: choice.log ? {distr: 3, log: 10} : {}},
      axes: [{...axis, space: 55}, {...axis, size: 68, values: (u, v) => v.map(x => x === null ? '' : short(x))}],
      series: [{}, ...lines.map(l => ({label: name(l), stroke: colour(l), width: lines.length > 12 ? 1 : 1.5, dash: dash(l),
        spanGaps: true, show: !choice.hidden.has(name(l)), points: {show: shown.x.length < 60}, pxAlign: 0}))],
      hooks: {
        draw: [() => { performance.measure('chart', 'chart begins'); }],
        setSelect: [u => {
          if (u.select.width < 4) return;
          const at = p => Math.max(0, Math.round(u.posToVal(p, 'x')));
          const [a, b] = [at(u.select.left), at(u.select.left + u.select.width)];
          u.setSelect({width: 0, height: 0, left: 0, top: 0}, false);
          if (b > a) zoom(a, b);
        }],
        setCursor: [tell], setSeries: [tell],
      },
    };
  };
  const tell = u => {
    const {idx} = u.cursor;
    if (idx === null || idx === undefined) return;
    const near = u.series.findIndex((s, i) => i > 0 && s._focus);
    const at = u.series.map((s, i) => i).filter(i => i > 0 && u.series[i].show && u.data[i][idx] != null);
    const list = near > 0 ? at.filter(i => i === near) : at.slice(0, 4);
    readout.textContent = [`step ${number(Math.round(u.data[0][idx]))}`,
      ...list.map(i => `${u.series[i].label} ${number(u.data[i][idx], 6)}`)].join(' · ');
  };
  const height = () => Math.max(300, Math.min(560, innerHeight * .55));
  const resize = new ResizeObserver(() => { chart?.setSize({width: box.clientWidth, height: height()}); });
  resize.observe(box);
  dark.addEventListener('change', draw);
  const stop = repeat(async signal => {
    const told = await get('runs', {}, signal);
    document.getElementById('name').textContent = `relgrad · ${told.name}`;
    const ids = list.split(',').map(Number);
    const now = JSON.stringify(told.runs.filter(r => ids.includes(r.run)).map(r => [r.run, r.fields]));
    if (now === stamps) return;
    await ask();
    stamps = now;
  }, 1000);
  return () => {
    stop();
    resize.disconnect();
    dark.removeEventListener('change', draw);
    chart?.destroy();
  };
}

const short = x => x === 0 ? '0' : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(1).replace('.0e', 'e') :
  `${+x.toPrecision(5)}`;
