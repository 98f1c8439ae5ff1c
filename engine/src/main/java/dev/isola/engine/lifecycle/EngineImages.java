package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;

/** Images that no provider knows: a sandbox is made from what they stand on, and then filled. */
public interface EngineImages {
  /** For an engine without any. */
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

  /** Tells whether a spec names one. */
  boolean handles(SandboxSpec spec);

  /**
   * Returns the spec a provider is given.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such image
   * @throws dev.isola.spi.error.Unsupported when it does not fit here
   */
  SandboxSpec baseSpec(SandboxSpec spec);

  /** Brings the files into a sandbox that was made from {@link #baseSpec}. */
  void populate(SandboxSpec spec, Sandbox sandbox, String provider);
}
