import {el, fail, clear} from './board.js';
import {runs} from './runs.js';
import {curves} from './curves.js';
import {parameters} from './parameters.js';
import {plan} from './plan.js';
import {sql} from './sql.js';

// A page is a function of the element that it fills and of the parts of its address. It returns what stops it.
const pages = {runs, curves, parameters, plan, sql};
const titles = {runs: 'Runs', curves: 'Curves', parameters: 'Parameters', plan: 'Plan', sql: 'SQL'};
const page = document.getElementById('page');
let stop = () => {};

function show() {
  stop();
  clear();
  const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split('/');
  const at = name in pages ? name : 'runs';
  document.getElementById('pages').replaceChildren(...Object.keys(titles).filter(n => n === 'runs' || rest[0]).map(n =>
    el('a', {href: n === 'runs' ? '#runs' : `#${n}/${n === 'curves' ? rest[0] : rest[0].split(',')[0]}`,
      'aria-current': n === at ? 'page' : undefined}, titles[n])));
  page.replaceChildren();
  try {
    stop = pages[at](page, rest);
  } catch (e) {
    stop = () => {};
    fail(e);
  }
}

addEventListener('hashchange', show);
show();
