package dev.isola.provider.microvm.firecracker;

import dev.isola.host.program.Vulnerability;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether Firecracker can be used on this host, judged without booting a machine.
 *
 * @param root whether the server has root privileges, with which Firecracker must be jailed
 * @param kvm the device of KVM
 */
record FirecrackerCheck(Optional<FirecrackerProgram> program, boolean root, Path kvm) {
  static final Path KVM = Path.of("/dev/kvm");

  /** Returns what is present and what is missing, with the fix. */
  List<Prerequisite> prerequisites() {
    return List.of(kvmPrerequisite(), programPrerequisite(), jailerPrerequisite());
  }

  /** Returns why Firecracker cannot be used; empty if only a boot can tell. */
  Optional<Health.Unhealthy> problem() {
    return prerequisites().stream()
        .filter(one -> one.necessary() && !one.present())
        .map(one -> new Health.Unhealthy(one.name() + ": " + one.detail(), one.fix()))
        .findFirst();
  }

  private Prerequisite kvmPrerequisite() {
    boolean usable = Files.isReadable(kvm) && Files.isWritable(kvm);
    return new Prerequisite(
        kvm.toString(),
        true,
        usable,
        usable ? "accessible" : Files.exists(kvm) ? "not accessible" : "does not exist",
        usable
            ? ""
            : Files.exists(kvm)
                ? "run Isola as root or as a member of the group kvm (usermod -aG kvm USER)"
                : "use a machine with hardware virtualization, or enable nested virtualization and"
                    + " load the module kvm_intel or kvm_amd; the provider qemu works without KVM");
  }

  private Prerequisite programPrerequisite() {
    Optional<String> problem = programProblem();
    return new Prerequisite(
        FirecrackerProgram.NAME,
        true,
        problem.isEmpty(),
        problem.orElseGet(() -> "version " + program.orElseThrow().version().orElseThrow()),
        problem.isEmpty() ? "" : FirecrackerProgram.REMEDY);
  }

  private Optional<String> programProblem() {
    if (program.isEmpty()) {
      return Optional.of("not installed");
    }
    FirecrackerProgram found = program.get();
    if (found.version().isEmpty()) {
      return Optional.of(found.path() + " --version does not report a version");
    }
    if (!found.version().get().atLeast(FirecrackerProgram.OLDEST)) {
      return Optional.of(
          "version "
              + found.version().get()
              + " is older than "
              + FirecrackerProgram.OLDEST
              + names(found.vulnerabilities()));
    }
    return found.vulnerabilities().isEmpty()
        ? Optional.empty()
        : Optional.of("version " + found.version().get() + names(found.vulnerabilities()));
  }

  private static String names(List<Vulnerability> flaws) {
    return flaws.isEmpty()
        ? ""
        : flaws.stream()
            .flatMap(flaw -> flaw.ids().stream())
            .collect(Collectors.joining(", ", ", which has ", ""));
  }

  private Prerequisite jailerPrerequisite() {
    Optional<FirecrackerProgram.Jailer> jailer = program.flatMap(FirecrackerProgram::jailer);
    boolean sameVersion =
        jailer.isPresent() && jailer.get().version().equals(program.orElseThrow().version());
    return new Prerequisite(
        "jailer",
        root,
        sameVersion,
        sameVersion
            ? root ? "used" : "not used without root"
            : jailer
                .map(found -> found.path() + " has another version than Firecracker")
                .orElse("not installed"),
        sameVersion ? "" : FirecrackerProgram.REMEDY);
  }
}
