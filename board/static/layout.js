// A layered layout of a graph whose nodes list their inputs, which come before them: a node lies above all its inputs.
// Order within a layer follows the neighbours' mean places (Sugiyama, Tagawa, Toda 1981, the barycentre method).

export const box = {width: 208, height: 46, across: 22, down: 40};

export function layout(nodes) {
  const layer = [];
  nodes.forEach((n, i) => { layer[i] = n.inputs.length ? 1 + Math.max(...n.inputs.map(j => layer[j])) : 0; });
  const readers = nodes.map(() => []);
  nodes.forEach((n, i) => n.inputs.forEach(j => readers[j].push(i)));
  nodes.forEach((n, i) => { // an input lies just below the lowest node that reads it
    if (!n.inputs.length && readers[i].length) layer[i] = Math.min(...readers[i].map(j => layer[j])) - 1;
  });
  const layers = [];
  layer.forEach((l, i) => (layers[l] ??= []).push(i));
  for (let l = 0; l < layers.length; l++) layers[l] ??= [];
  const place = [];
  const settle = row => row.forEach((i, at) => { place[i] = at - row.length / 2; });
  layers.forEach(settle);
  const mean = (list, i) => list.length ? list.reduce((sum, j) => sum + place[j], 0) / list.length : place[i];
  for (let round = 0; round < 8; round++) {
    const up = round % 2 === 0;
    for (const row of up ? layers : layers.toReversed()) {
      const at = new Map(row.map(i => [i, mean(up ? nodes[i].inputs : readers[i], i)]));
      row.sort((a, b) => at.get(a) - at.get(b));
      settle(row);
    }
  }
  const widest = Math.max(1, ...layers.map(r => r.length));
  const step = {x: box.width + box.across, y: box.height + box.down};
  const at = nodes.map((n, i) => ({x: 12 + (place[i] + widest / 2) * step.x, y: 12 + (layers.length - 1 - layer[i]) * step.y}));
  return {at, readers, width: 24 + widest * step.x - box.across, height: 24 + layers.length * step.y - box.down};
}
