// What a reader does with a report, in a browser: looks at every chart, points at it, switches the axes and the colours.
// What was found is left in the page, as JSON, for the test that started the browser.
(async () => {
  'use strict';
  const found = { errors: window.errorsOfThePage, charts: [], problems: [] };
  const check = (what, text) => { if (!what) found.problems.push(text); };
  const figures = () => [...document.querySelectorAll('figure.chart')];
  try {
    for (const figure of figures()) {
      const title = figure.querySelector('figcaption').firstChild.textContent;
      found.charts.push(title);
      const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
      check(box.width > 100 && box.height > 50, `${title}: has no size`);
      const paths = [...svg.querySelectorAll('path')];
      check(paths.some((path) => (path.getAttribute('d') || '').startsWith('M')), `${title}: nothing is drawn`);
      check(!svg.innerHTML.includes('NaN') && !svg.innerHTML.includes('Infinity'), `${title}: has places that are no numbers`);
      check([...svg.querySelectorAll('text')].some((text) => text.textContent === '0'), `${title}: has no zero`);
      svg.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width / 2, clientY: box.top + 40, bubbles: true }));
      const tip = figure.querySelector('.tip');
      check(tip.style.display === 'block' && tip.children.length > 1, `${title}: says nothing under the pointer`);
      svg.dispatchEvent(new PointerEvent('pointerleave', { bubbles: true }));
      check(tip.style.display === 'none', `${title}: goes on talking`);
      check(figure.querySelectorAll('table tr').length > 1, `${title}: has no table`);
      check(decodeURIComponent(figure.querySelector('a').href).split('\n').length > 1, `${title}: has no CSV`);
    }
    const places = () => figures().map((figure) => figure.querySelector('svg').innerHTML);
    const scale = document.getElementById('scale');
    // (Drawn anew, without what the pointer left.)
    scale.click();
    const linear = places();
    scale.click();
    const logarithmic = places();
    check(linear.some((place, i) => place !== logarithmic[i]), 'the axes do not switch');
    scale.click();
    check(places().every((place, i) => place === linear[i]), 'the axes do not become linear again');
    scale.click();
    check(places().every((place, i) => place === logarithmic[i]), 'the axes do not switch back');
    const colour = () => getComputedStyle(document.body).backgroundColor;
    const light = colour();
    document.getElementById('theme').click();
    check(colour() !== light, 'there is no dark');
    document.getElementById('theme').click();
    const first = figures()[0], before = first.querySelectorAll('path').length;
    first.querySelector('.legend span').click();
    check(first.querySelectorAll('path').length < before, 'a line cannot be hidden');
    first.querySelector('.legend span').click();
    check(document.documentElement.scrollWidth <= innerWidth + 1, 'the page is wider than the window');
  } catch (error) {
    found.problems.push(String(error));
  }
  const result = document.createElement('pre');
  result.id = 'found';
  result.textContent = JSON.stringify(found);
  document.body.appendChild(result);
})();
