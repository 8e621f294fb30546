/** The product's logo: a message in flight. The favicon, `icon.svg`, is the same. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M7 10.5h10M7 16h13M7 21.5h10" />
    <path d="m18.5 10.5 6.5 5.5-6.5 5.5" />
  </svg>
);
