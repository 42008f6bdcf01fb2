import {el, get, once} from './board.js';

export function sql(page, [run]) {
  page.append(el('h1', {}, `SQL of the loss and the gradient of run ${run}`), el('p', {className: 'faint'}, 'Making it …'));
  return once(async signal => {
    try {
      const told = await get('sql', {run}, signal);
      const written = told.view || told.loss;
      page.append(el('div', {className: 'beside'},
        el('section', {},
          el('h2', {}, told.view ? `The view ${told.loss}` : 'The loss'), el('pre', {className: 'wrap'}, written),
          told.parts.filter(p => p.name === 'loss').map(statement),
          told.engine ? [el('h2', {}, 'How it is computed'), el('pre', {className: 'wrap'}, told.engine)] : []),
        el('section', {}, told.parts.filter(p => p.name !== 'loss').map(statement))));
    } finally {
      page.querySelector('p')?.remove();
    }
  });
}

const statement = p => [el('h2', {}, p.name === 'loss' ? 'The loss as relgrad computes it' : `The ${p.name}`),
  el('pre', {tabIndex: 0}, p.sql)];
