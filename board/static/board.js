// What all pages use: elements, questions to the server, errors, repetition.

export function el(tag, attributes = {}, ...children) {
  const svg = ['svg', 'g', 'rect', 'path', 'text', 'line', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name in e && !svg && name !== 'list') e[name] = value;
    else if (value !== undefined) e.setAttribute(name, value);
  }
  e.append(...children.flat(Infinity).filter(c => c !== undefined && c !== null));
  return e;
}

// get asks the server. Its errors have the text that relgrad prints.
export async function get(path, parameters = {}, signal) {
  let answer;
  try {
    answer = await fetch(`/api/${path}?${new URLSearchParams(parameters)}`, {signal});
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Error('The board does not answer. Has it ended?');
  }
  const text = await answer.text();
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(text || `The board answered with status ${answer.status}.`);
  }
  if (!answer.ok) throw new Error(value.text || value.message);
  return value;
}

const box = document.getElementById('error');

export function fail(e) {
  if (e.name === 'AbortError') return;
  box.textContent = e.message;
  box.hidden = false;
}

export function clear() { box.hidden = true; }

// repeat calls f now and then again every so many milliseconds, one call at a time, while the page is seen. It returns
// what stops it.
export function repeat(f, every) {
  const stop = new AbortController();
  let timer;
  const next = async () => {
    if (!document.hidden) {
      try {
        await f(stop.signal);
        if (!stop.signal.aborted) clear();
      } catch (e) {
        if (!stop.signal.aborted) fail(e);
      }
    }
    if (!stop.signal.aborted) timer = setTimeout(next, every);
  };
  next();
  return () => { stop.abort(); clearTimeout(timer); };
}

// once calls f, and shows its error. It returns what stops it.
export function once(f) {
  const stop = new AbortController();
  f(stop.signal).then(clear, e => { if (!stop.signal.aborted) fail(e); });
  return () => stop.abort();
}

export function number(x, digits = 5) {
  if (x === null || x === undefined || x === '') return '';
  return Number.isInteger(x) && Math.abs(x) < 1e15 ? x.toLocaleString('en') : Number(x).toPrecision(digits);
}

// time shows a time of the server's, which is in UTC unless it names its zone, in the reader's.
export function time(text) {
  const zoned = text && (/[+-]\d\d(:?\d\d)?$/.test(text.slice(10)) ? text.replace(/([+-]\d\d)$/, '$1:00') : text + 'Z');
  const t = zoned && new Date(zoned.replace(' ', 'T'));
  return t && !isNaN(t) ? t.toLocaleString('sv').slice(0, 19) : text ?? '';
}

export function size(x, unit) {
  const names = ['', 'k', 'M', 'G', 'T', 'P'];
  let i = 0;
  while (x >= 1000 && i < names.length - 1) { x /= 1000; i++; }
  return `${x.toPrecision(3)} ${names[i]}${unit}`;
}
