// Light or dark: as the system says, or as a person chose for this browser.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'hydramem-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export const theme = signal<Theme>(stored());
/** Whether dark colours are shown now; a canvas reads it. */
export const isDark = signal(dark.matches);

function stored(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

dark.addEventListener('change', () => apply(theme.value));

function apply(chosen: Theme): void {
  isDark.value = chosen === 'dark' || (chosen === 'system' && dark.matches);
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
}

effect(() => {
  if (theme.value === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme.value);
  apply(theme.value);
});
