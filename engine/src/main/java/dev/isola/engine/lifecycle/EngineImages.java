package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;

/**
 * Images that the engine resolves itself. A provider gets the base image of such an image, and the
 * engine adds the files, or lets the provider continue the processes that the image contains.
 */
public interface EngineImages {
  /** Returns whether the image of a spec is one that the engine resolves. */
  boolean handles(SandboxSpec spec);

  /**
   * Returns whether the image of a spec contains running processes. Such a sandbox inherits the
   * spec of the one that they were captured from.
   */
  boolean containsProcesses(SandboxSpec spec);

  /**
   * Returns the spec with the base image, for the provider.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such image
   * @throws dev.isola.spi.error.Unsupported if this machine cannot run the image
   */
  SandboxSpec baseSpec(SandboxSpec spec);

  /** Returns the capability that a provider needs for the image of a spec. */
  Class<? extends Capability> requiredCapability(SandboxSpec spec);

  /**
   * Creates a sandbox with the image of a spec, or with any other image. If this throws, the
   * provider has destroyed it.
   *
   * @param spec the spec with the image that the engine resolves
   * @param base the spec for the provider: {@link #baseSpec}, with a deadline
   * @param provider the name of the provider
   */
  Sandbox create(SandboxSpec spec, SandboxSpec base, String provider);
}
