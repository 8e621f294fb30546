import { afterEach } from 'vitest';
import { importForScenes, Scene, type SceneLambdas } from './laneScene.ts';
import { useWorld } from './useWorld.ts';
import type { World } from './world.ts';

/**
 * Opens a world around a file's tests, and scenes in it: each closes with its test, or when the next one opens, and has an account of its own.
 *
 * @param onOpen gets the world, and the services that scenes call, before the first test
 * @returns opens a scene
 */
export function useScenes(
  onOpen: (world: World, lambdas: SceneLambdas) => void,
): (limits?: Readonly<Record<string, number>>) => Promise<Scene> {
  let parts: { readonly world: World; readonly lambdas: SceneLambdas } | undefined;
  useWorld(async (world) => {
    parts = { world, lambdas: await importForScenes() };
    onOpen(parts.world, parts.lambdas);
  });
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.close();
    scene = undefined;
  });
  let scenes = 0;
  return async (limits) => {
    if (parts === undefined) throw new Error('The world is not open yet.');
    await scene?.close();
    scenes += 1;
    scene = await Scene.open(parts.world, parts.lambdas, `scene-${scenes}`, limits);
    return scene;
  };
}
