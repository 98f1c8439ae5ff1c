package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.GvisorRelease;
import java.util.Optional;

/** What gVisor can do, as far as its program is on this machine to be asked. */
record GvisorCheck(DockerProviderSettings settings) {
  /** Tells whether it is known to have terminals that work. */
  boolean terminals() {
    return release().filter(GvisorRelease::hasTerminals).isPresent();
  }

  /** Returns what is broken in it; empty where nothing is known to be. */
  Optional<String> defect() {
    return release().flatMap(GvisorRelease::defect);
  }

  private Optional<GvisorRelease> release() {
    Optional<HostProgram> program =
        settings.address().local() ? HostProgram.find("runsc") : Optional.empty();
    return program.flatMap(found -> GvisorRelease.of(found.run("--version").text()));
  }
}
