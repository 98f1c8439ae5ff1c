package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.GvisorRelease;
import java.util.Optional;

/** The capabilities of gVisor, as far as its program is installed on this machine. */
record GvisorCheck(DockerProviderSettings settings) {
  /** Tells whether this release is known to have working terminals. */
  boolean terminals() {
    return release().filter(GvisorRelease::hasTerminals).isPresent();
  }

  /** Returns the known defect of this release; empty if none is known. */
  Optional<String> defect() {
    return release().flatMap(GvisorRelease::defect);
  }

  private Optional<GvisorRelease> release() {
    Optional<HostProgram> program =
        settings.address().local() ? HostProgram.find("runsc") : Optional.empty();
    return program.flatMap(found -> GvisorRelease.of(found.run("--version").text()));
  }
}
