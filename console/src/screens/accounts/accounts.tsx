import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Accounts({ place }: { readonly place: Place }) {
  return <Page title="Accounts">{place.path.join('/')}</Page>;
}
