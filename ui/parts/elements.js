/* Making elements. Text is always set as text: names in the data come from outside. */

const SVG = 'http://www.w3.org/2000/svg';

const byId = (id) => document.getElementById(id);

function add(parent, tag, attributes, ...children) {
  const isSvg = tag.startsWith('svg:');
  const element = isSvg ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'text') element.textContent = value;
    else if (key === 'style') element.style.cssText = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  if (parent) parent.append(element);
  return element;
}

/* Draws now and whenever the width of `element` changes. */
function onWidth(element, draw) {
  let last = 0;
  const redraw = () => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  };
  new ResizeObserver(redraw).observe(element);
  redraw();
}
