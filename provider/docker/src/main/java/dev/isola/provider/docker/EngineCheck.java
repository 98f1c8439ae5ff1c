package dev.isola.provider.docker;

import dev.isola.host.program.GvisorRelease;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks whether an engine is suitable, and what it lacks. */
record EngineCheck(EngineVariant flavour, DockerProviderSettings settings) {
  private List<String> acceptedRuntimes() {
    return settings.runtime().map(List::of).orElse(flavour.runtimes());
  }

  /**
   * Returns the runtime to request; empty for the engine's default.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the engine has no suitable runtime
   */
  Optional<String> runtime(EngineInfo facts) {
    if (acceptedRuntimes().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        found(facts)
            .orElseThrow(
                () ->
                    Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, missing(facts), installHint())
                        .exception()));
  }

  /** Returns the first runtime that exists and is of the required type. */
  private Optional<String> found(EngineInfo facts) {
    return facts
        .runtime(acceptedRuntimes())
        .filter(name -> flavour.programs().matcher(facts.runtimeProgram(name)).matches());
  }

  Health health(EngineInfo facts) {
    if (flavour.engine() == EngineVariant.EngineKind.PODMAN && !facts.podman()) {
      return new Health.Unhealthy(
          "the service at " + settings.address() + " is not Podman",
          "start Podman's service (systemctl start podman.socket), or set its socket (setting"
              + " host)");
    }
    if (!acceptedRuntimes().isEmpty() && found(facts).isEmpty()) {
      return new Health.Unhealthy(missing(facts), installHint());
    }
    if (!facts.defects().isEmpty()) {
      return new Health.Unhealthy(
          String.join("; ", facts.defects()), "install newer versions of the engine's components");
    }
    Optional<String> defect =
        flavour.guest() == EngineVariant.ExpectedKernel.GVISOR
            ? new GvisorCheck(settings).defect()
            : Optional.empty();
    return defect.isPresent()
        ? new Health.Degraded(defect.get(), GvisorRelease.INSTALL)
        : new Health.Healthy(description(facts));
  }

  private String engine(EngineInfo facts) {
    return (facts.podman() ? "Podman " : "Docker ") + facts.version() + " at " + settings.address();
  }

  private String description(EngineInfo facts) {
    StringBuilder text = new StringBuilder(engine(facts));
    facts.runtime(acceptedRuntimes()).ifPresent(name -> text.append(", runtime ").append(name));
    facts.notes().forEach(note -> text.append("; ").append(note));
    return text.toString();
  }

  private String missing(EngineInfo facts) {
    Optional<String> another = facts.runtime(acceptedRuntimes());
    if (another.isPresent()) {
      return "the runtime "
          + another.get()
          + " of the engine at "
          + settings.address()
          + " is '"
          + facts.runtimeProgram(another.get())
          + "', which is not known to be "
          + flavour.name();
    }
    return "the engine at "
        + settings.address()
        + " has no runtime "
        + String.join(" or ", acceptedRuntimes())
        + ", only "
        + String.join(", ", facts.runtimes().keySet());
  }

  private String installHint() {
    return switch (flavour.guest()) {
      case GVISOR ->
          GvisorRelease.INSTALL
              + "; register it with the engine (runsc install, or"
              + " \"runtimes\": {\"runsc\": {\"path\": \"/usr/bin/runsc\"}} in"
              + " /etc/docker/daemon.json) and restart the engine";
      case VIRTUAL_MACHINE ->
          "install Kata Containers (it needs /dev/kvm), register it with the engine (\"runtimes\":"
              + " {\"kata\": {\"runtimeType\": \"io.containerd.kata.v2\"}} in"
              + " /etc/docker/daemon.json) and restart the engine";
      case HOST_KERNEL -> "use one that the engine has (setting runtime)";
    };
  }

  List<Prerequisite> requirements(EngineInfo facts) {
    List<Prerequisite> all = new ArrayList<>();
    all.add(new Prerequisite("container engine", true, true, engine(facts), ""));
    if (!acceptedRuntimes().isEmpty()) {
      Optional<String> found = found(facts);
      all.add(
          new Prerequisite(
              "runtime " + acceptedRuntimes().getFirst(),
              true,
              found.isPresent(),
              found.map(name -> "registered as " + name).orElse(missing(facts)),
              found.isPresent() ? "" : installHint()));
    }
    all.add(
        new Prerequisite(
            "user namespaces",
            false,
            facts.remapsUsers(),
            facts.remapsUsers()
                ? "the root user of a sandbox is unprivileged on the host"
                : "the root user of a sandbox is the host's root with few capabilities",
            facts.remapsUsers()
                ? ""
                : "enable them (\"userns-remap\": \"default\" in /etc/docker/daemon.json)"));
    all.add(
        new Prerequisite(
            "control group namespaces",
            false,
            facts.privateCgroups(),
            facts.privateCgroups()
                ? "a sandbox sees only its own cgroups"
                : "a sandbox sees the host paths of its cgroups",
            facts.privateCgroups() ? "" : "boot this machine with cgroup v2"));
    return all;
  }
}
