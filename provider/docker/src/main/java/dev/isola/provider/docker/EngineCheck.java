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
record EngineCheck(EngineVariant variant, DockerProviderSettings settings) {
  private List<String> acceptedRuntimes() {
    return settings.runtime().map(List::of).orElse(variant.runtimes());
  }

  /**
   * Returns the runtime to request; empty for the engine's default.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the engine has no suitable runtime
   */
  Optional<String> runtime(EngineInfo engineInfo) {
    if (acceptedRuntimes().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        found(engineInfo)
            .orElseThrow(
                () ->
                    Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, missing(engineInfo), installHint())
                        .exception()));
  }

  /** Returns the first runtime that exists and is of the required type. */
  private Optional<String> found(EngineInfo engineInfo) {
    return engineInfo
        .runtime(acceptedRuntimes())
        .filter(name -> variant.programs().matcher(engineInfo.runtimeProgram(name)).matches());
  }

  Health health(EngineInfo engineInfo) {
    if (variant.engine() == EngineVariant.EngineKind.PODMAN && !engineInfo.podman()) {
      return new Health.Unhealthy(
          "the service at " + settings.address() + " is not Podman",
          "start Podman's service (systemctl start podman.socket), or set its socket (setting"
              + " host)");
    }
    if (!acceptedRuntimes().isEmpty() && found(engineInfo).isEmpty()) {
      return new Health.Unhealthy(missing(engineInfo), installHint());
    }
    if (!engineInfo.defects().isEmpty()) {
      return new Health.Unhealthy(
          String.join("; ", engineInfo.defects()),
          "install newer versions of the engine's components");
    }
    Optional<String> defect =
        variant.guest() == EngineVariant.ExpectedKernel.GVISOR
            ? new GvisorCheck(settings).defect()
            : Optional.empty();
    return defect.isPresent()
        ? new Health.Degraded(defect.get(), GvisorRelease.INSTALL)
        : new Health.Healthy(description(engineInfo));
  }

  private String engine(EngineInfo engineInfo) {
    return (engineInfo.podman() ? "Podman " : "Docker ")
        + engineInfo.version()
        + " at "
        + settings.address();
  }

  private String description(EngineInfo engineInfo) {
    StringBuilder text = new StringBuilder(engine(engineInfo));
    engineInfo
        .runtime(acceptedRuntimes())
        .ifPresent(name -> text.append(", runtime ").append(name));
    engineInfo.notes().forEach(note -> text.append("; ").append(note));
    return text.toString();
  }

  private String missing(EngineInfo engineInfo) {
    Optional<String> another = engineInfo.runtime(acceptedRuntimes());
    if (another.isPresent()) {
      return "the runtime "
          + another.get()
          + " of the engine at "
          + settings.address()
          + " is '"
          + engineInfo.runtimeProgram(another.get())
          + "', which is not known to be "
          + variant.name();
    }
    return "the engine at "
        + settings.address()
        + " has no runtime "
        + String.join(" or ", acceptedRuntimes())
        + ", only "
        + String.join(", ", engineInfo.runtimes().keySet());
  }

  private String installHint() {
    return switch (variant.guest()) {
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

  List<Prerequisite> requirements(EngineInfo engineInfo) {
    List<Prerequisite> all = new ArrayList<>();
    all.add(new Prerequisite("container engine", true, true, engine(engineInfo), ""));
    if (!acceptedRuntimes().isEmpty()) {
      Optional<String> found = found(engineInfo);
      all.add(
          new Prerequisite(
              "runtime " + acceptedRuntimes().getFirst(),
              true,
              found.isPresent(),
              found.map(name -> "registered as " + name).orElse(missing(engineInfo)),
              found.isPresent() ? "" : installHint()));
    }
    all.add(
        new Prerequisite(
            "user namespaces",
            false,
            engineInfo.remapsUsers(),
            engineInfo.remapsUsers()
                ? "the root user of a sandbox is unprivileged on the host"
                : "the root user of a sandbox is the host's root with few capabilities",
            engineInfo.remapsUsers()
                ? ""
                : "enable them (\"userns-remap\": \"default\" in /etc/docker/daemon.json)"));
    all.add(
        new Prerequisite(
            "control group namespaces",
            false,
            engineInfo.privateCgroups(),
            engineInfo.privateCgroups()
                ? "a sandbox sees only its own cgroups"
                : "a sandbox sees the host paths of its cgroups",
            engineInfo.privateCgroups() ? "" : "boot this machine with cgroup v2"));
    return all;
  }
}
