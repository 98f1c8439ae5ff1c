package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.Probe.Topic.GIVEN;

import dev.isola.conformance.escape.Probe.Reach;
import dev.isola.spi.Isolation;
import java.util.List;

/** What a command was given without asking: descriptors, environment, session, rights. */
final class GivenProbes {
  private GivenProbes() {}

  static List<Probe> all() {
    return List.of(
        Probe.of(
                "serversEnvironmentIsNotInherited",
                GIVEN,
                "variables of the server",
                scene -> FileProbes.with("environment", scene.all("environment")))
            .fromProcess(),
        Probe.of(
                "noDescriptorIsInherited",
                GIVEN,
                "an open descriptor beyond the standard ones",
                scene -> List.of("descriptors"))
            .withControl(scene -> List.of("descriptors", "own"))
            .fromProcess(),
        Probe.of(
                "serversSessionIsNotInherited",
                GIVEN,
                "the session and process group of the server",
                scene ->
                    List.of(
                        "session",
                        scene.one("session"),
                        scene.one("namespace-pid"),
                        scene.one("boot")))
            .fromProcess(),
        Probe.of(
                "noTerminalIsInherited",
                GIVEN,
                "the server's terminal, by typing into it (TIOCSTI)",
                scene -> List.of("terminal"))
            .withControl(scene -> List.of("terminal", "own"))
            .fromProcess(),
        Probe.ofKernel(
            "capabilitiesAreFew",
            GIVEN,
            "capabilities that a container does not need",
            "capabilities"),
        Probe.ofKernel("systemCallsAreFiltered", GIVEN, "every system call", "seccomp"),
        Probe.of(
                "setuidProgramsDoNotGiveTheHostsRoot",
                GIVEN,
                "the host's root, by a program that sets its user",
                scene -> List.of("setuid", scene.one("boot")))
            .withReach(Reach.KERNEL),
        Probe.of(
                "kernelIsItsOwn",
                GIVEN,
                "the host's kernel",
                scene -> List.of("kernel", scene.one("boot")))
            .withFloors(Isolation.KERNEL, Isolation.KERNEL));
  }
}
