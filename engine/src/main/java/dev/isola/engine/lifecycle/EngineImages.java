package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;

/**
 * Images that the engine resolves itself. A sandbox with such an image is created from its base
 * image and then populated.
 */
public interface EngineImages {
  /** For an engine without such images. */
  EngineImages NONE =
      new EngineImages() {
        @Override
        public boolean handles(SandboxSpec spec) {
          return false;
        }

        @Override
        public SandboxSpec baseSpec(SandboxSpec spec) {
          return spec;
        }

        @Override
        public void populate(SandboxSpec spec, Sandbox sandbox, String provider) {}
      };

  /** Returns whether the image of a spec is one that the engine resolves. */
  boolean handles(SandboxSpec spec);

  /**
   * Returns the spec with the base image, for the provider.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such image
   * @throws dev.isola.spi.error.Unsupported if this machine cannot run the image
   */
  SandboxSpec baseSpec(SandboxSpec spec);

  /** Populates a sandbox that was created from {@link #baseSpec} with the files of the image. */
  void populate(SandboxSpec spec, Sandbox sandbox, String provider);
}
