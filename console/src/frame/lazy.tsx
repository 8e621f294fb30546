/** Loads the code of rarely used screens when they are first opened, so that the first page appears sooner. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Place } from '../place.ts';
import { Failure, Loading, Page } from '../ui/basics.tsx';

type Screen = FunctionComponent<{ readonly place: Place }>;

/** @param title the heading until the screen is loaded */
export function lazy(title: string, load: () => Promise<Screen>): Screen {
  let Loaded: Screen | undefined;
  return function Lazy(props) {
    const [isFailed, setFailed] = useState(false);
    const [, setReady] = useState(Loaded !== undefined);
    useEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (screen) => {
          Loaded = screen;
          setReady(true);
        },
        () => {
          setFailed(true);
        },
      );
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    return (
      <Page title={title}>
        {isFailed ? (
          <Failure
            error={{
              sentence:
                'The screen cannot be loaded: the service cannot be reached, or has a new version of this page.',
              code: undefined,
            }}
            again={() => {
              location.reload();
            }}
          />
        ) : (
          <Loading />
        )}
      </Page>
    );
  };
}
