package dev.isola.provider.docker;

import dev.isola.host.program.GvisorRelease;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether an engine will do, and what it lacks. */
record EngineCheck(Flavour flavour, Settings settings) {
  private List<String> wanted() {
    return settings.runtime().map(List::of).orElse(flavour.runtimes());
  }

  /**
   * Returns the runtime to ask for; empty for the engine's own choice.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when the engine has none that will do
   */
  Optional<String> runtime(Facts facts) {
    if (wanted().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        found(facts)
            .orElseThrow(
                () ->
                    Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, missing(facts), howToGet())
                        .exception()));
  }

  /** Returns the runtime that will do: it is there, and is what it has to be. */
  private Optional<String> found(Facts facts) {
    return facts
        .runtime(wanted())
        .filter(name -> flavour.programs().matcher(facts.runtimeProgram(name)).matches());
  }

  Health health(Facts facts) {
    if (flavour.engine() == Flavour.Kind.PODMAN && !facts.podman()) {
      return new Health.Unhealthy(
          "what listens at " + settings.address() + " is not Podman",
          "start its service (systemctl start podman.socket), or name its socket (setting host)");
    }
    if (!wanted().isEmpty() && found(facts).isEmpty()) {
      return new Health.Unhealthy(missing(facts), howToGet());
    }
    if (!facts.flaws().isEmpty()) {
      return new Health.Unhealthy(
          String.join("; ", facts.flaws()), "install newer versions of the engine's parts");
    }
    Optional<String> defect =
        flavour.guest() == Flavour.Guest.GVISOR ? new Gvisor(settings).defect() : Optional.empty();
    return defect.isPresent()
        ? new Health.Degraded(defect.get(), GvisorRelease.INSTALL)
        : new Health.Healthy(said(facts));
  }

  private String engine(Facts facts) {
    return (facts.podman() ? "Podman " : "Docker ") + facts.version() + " at " + settings.address();
  }

  private String said(Facts facts) {
    StringBuilder text = new StringBuilder(engine(facts));
    facts.runtime(wanted()).ifPresent(name -> text.append(", runtime ").append(name));
    facts.notes().forEach(note -> text.append("; ").append(note));
    return text.toString();
  }

  private String missing(Facts facts) {
    Optional<String> another = facts.runtime(wanted());
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
        + String.join(" or ", wanted())
        + ", only "
        + String.join(", ", facts.runtimes().keySet());
  }

  private String howToGet() {
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
      case HOST_KERNEL -> "name one that it has (setting runtime)";
    };
  }

  List<Prerequisite> requirements(Facts facts) {
    List<Prerequisite> all = new ArrayList<>();
    all.add(new Prerequisite("container engine", true, true, engine(facts), ""));
    if (!wanted().isEmpty()) {
      Optional<String> found = found(facts);
      all.add(
          new Prerequisite(
              "runtime " + wanted().getFirst(),
              true,
              found.isPresent(),
              found.map(name -> "registered as " + name).orElse(missing(facts)),
              found.isPresent() ? "" : howToGet()));
    }
    all.add(
        new Prerequisite(
            "user namespaces",
            false,
            facts.remaps(),
            facts.remaps()
                ? "root of a sandbox is nobody on the host"
                : "root of a sandbox is the host's root with few capabilities",
            facts.remaps()
                ? ""
                : "turn them on (\"userns-remap\": \"default\" in /etc/docker/daemon.json)"));
    all.add(
        new Prerequisite(
            "control group namespaces",
            false,
            facts.groupsHidden(),
            facts.groupsHidden()
                ? "a sandbox sees only its own control groups"
                : "Podman shows a sandbox where its control groups are on the host",
            facts.groupsHidden() ? "" : "boot this machine with version 2 of control groups"));
    return all;
  }
}
