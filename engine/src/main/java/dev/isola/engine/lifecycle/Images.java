package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;

/** Images that no provider knows: a sandbox is made from what they stand on, and then filled. */
public interface Images {
  /** For an engine without any. */
  Images NONE =
      new Images() {
        @Override
        public boolean needed(SandboxSpec spec) {
          return false;
        }

        @Override
        public SandboxSpec base(SandboxSpec spec) {
          return spec;
        }

        @Override
        public void fill(SandboxSpec spec, Sandbox sandbox, String provider) {}
      };

  /** Tells whether a spec names one. */
  boolean needed(SandboxSpec spec);

  /**
   * Returns the spec a provider is given.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such image
   * @throws dev.isola.spi.error.Unsupported when it does not fit here
   */
  SandboxSpec base(SandboxSpec spec);

  /** Brings the files into a sandbox that was made from {@link #base}. */
  void fill(SandboxSpec spec, Sandbox sandbox, String provider);
}
