import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function DeadLetters({ place }: { readonly place: Place }) {
  return <Page title="Dead letters">{place.path.join('/')}</Page>;
}
