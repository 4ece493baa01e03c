/* What a page of /docs does beyond being read: copy buttons, the theme, the menu on a phone, search over headings. */

for (const button of document.querySelectorAll('.copy')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

document.querySelector('.theme').addEventListener('click', () => {
  const root = document.documentElement;
  const now = root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('lodestone-theme', root.dataset.theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
});

const menu = document.querySelector('.menu');
const navigation = document.querySelector('#guide-pages');
const showMenu = (open) => {
  menu.setAttribute('aria-expanded', String(open));
  navigation?.classList.toggle('open', open);
};
menu.addEventListener('click', () => showMenu(menu.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || menu.getAttribute('aria-expanded') !== 'true') return;
  showMenu(false);
  menu.focus();
});

const { index: indexUrl } = document.currentScript?.dataset ?? {};
const search = document.querySelector('.search');
if (search && indexUrl) startSearch(search, indexUrl);

function startSearch(form, url) {
  const input = form.querySelector('input');
  const found = form.querySelector('.found');
  const count = form.querySelector('.count');
  let index;
  const entries = async () => {
    index ??= await (await fetch(url)).json();
    return index;
  };
  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words.length > 0 ? await entries() : [];
    const hits = all.filter(({ page, text }) => words.every((word) => `${page} ${text}`.toLowerCase().includes(word)));
    found.replaceChildren(...hits.slice(0, 8).map(hitItem));
    count.textContent = words.length === 0 ? '' : hits.length === 1 ? '1 heading' : `${hits.length} headings`;
  };
  input.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    showMenu(true);
    input.focus();
  });
}

function hitItem({ href, page, text }) {
  const link = document.createElement('a');
  link.href = href;
  link.textContent = text;
  if (page !== text) {
    const where = document.createElement('span');
    where.textContent = page;
    link.append(where);
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}
