package dev.isola.conformance.escape;

import dev.isola.spi.Isolation;
import java.util.List;

/**
 * An attempt to escape from a sandbox. The {@code with} methods each return a modified probe.
 *
 * @param name the name of the check; stable
 * @param target what a successful probe reaches
 * @param location where the target is
 * @param control the program arguments on the bare host, where the probe must succeed
 * @param attempt the program arguments in the sandbox
 * @param evidence what decides whether the probe succeeded
 * @param floor the weakest isolation that must refuse the probe
 * @param rootFloor the weakest isolation that must refuse the probe to root of the sandbox as well
 * @param reach what the probe gains
 * @param offline whether the probe applies to a sandbox without a network
 * @param need a feature that a provider may declare as missing; without it, the probe is not
 *     refused
 */
public record EscapeProbe(
    String name,
    Topic topic,
    String target,
    TargetLocation location,
    ProbeArguments control,
    ProbeArguments attempt,
    Evidence evidence,
    Isolation floor,
    Isolation rootFloor,
    Reach reach,
    boolean offline,
    Need need) {

  /** Returns the arguments of the probe program. */
  public interface ProbeArguments {
    List<String> arguments(ProbeContext context);
  }

  /** The subject of a probe. */
  public enum Topic {
    FILES,
    PROCESSES,
    INHERITED_STATE,
    NAMESPACES,
    KERNEL,
    DEVICES,
    NETWORK,
    MEMORY,
    AGENT,
    OTHER_SANDBOX,
    RESOURCES
  }

  /** Where the target of a probe is. */
  public enum TargetLocation {
    /** On the host. */
    HOST,
    /** In the data that the provider keeps on the host for a running sandbox. */
    INSTALLATION,
    /** In another sandbox of the same provider. */
    OTHER_SANDBOX,
    /** In the workspace, which is a host folder supplied by the client. */
    WORKSPACE
  }

  /** What decides whether a probe succeeded. */
  public enum Evidence {
    /** The output of the probe program. */
    OUTPUT,
    /** The content of the file in the first argument, read on the host afterwards. */
    FILE,
    /** Whether the target process is still alive. */
    PROCESS,
    /**
     * Whether the sandbox still responds; on the bare host, whether the target process is alive.
     */
    SANDBOX,
    /** Whether a host file of that name is owned by root and has the set-user-id bit. */
    SETUID
  }

  /** A kernel feature that isolation relies on and that a provider may lack on some machines. */
  public enum Need {
    NOTHING(""),
    /** Namespaces of any kind, for isolation {@code process}. */
    NAMESPACES(""),
    /** User namespaces, which a container engine may not use. */
    USERS("user namespaces"),
    /** Control group namespaces, which a container engine may not use. */
    CONTROL_GROUPS("control group namespaces");

    private final String requirement;

    Need(String requirement) {
      this.requirement = requirement;
    }

    /** Returns whether the provider declares this feature as the prerequisite {@code name}. */
    public boolean isNamed(String name) {
      return !requirement.isEmpty() && requirement.equals(name);
    }
  }

  /** What a probe gains. */
  public enum Reach {
    /** A resource of the host, whichever kernel is in between. */
    HOST,
    /**
     * A privilege granted by the kernel. If the sandbox has its own kernel, it gives no access to
     * the host.
     */
    KERNEL
  }

  /** Returns a probe that isolation of level container or stronger must refuse, even to root. */
  static EscapeProbe of(String name, Topic topic, String target, ProbeArguments script) {
    return new EscapeProbe(
        name,
        topic,
        target,
        TargetLocation.HOST,
        script,
        script,
        Evidence.OUTPUT,
        Isolation.CONTAINER,
        Isolation.CONTAINER,
        Reach.HOST,
        false,
        Need.NOTHING);
  }

  /** Returns a probe of a kernel privilege. */
  static EscapeProbe ofKernel(String name, Topic topic, String target, String... program) {
    List<String> arguments = List.of(program);
    return of(name, topic, target, context -> arguments).withReach(Reach.KERNEL);
  }

  EscapeProbe withControl(ProbeArguments script) {
    return new EscapeProbe(
        name, topic, target, location, script, attempt, evidence, floor, rootFloor, reach, offline,
        need);
  }

  EscapeProbe withLocation(TargetLocation where) {
    return new EscapeProbe(
        name, topic, target, where, control, attempt, evidence, floor, rootFloor, reach, offline,
        need);
  }

  EscapeProbe withEvidence(Evidence by) {
    return new EscapeProbe(
        name, topic, target, location, control, attempt, by, floor, rootFloor, reach, offline,
        need);
  }

  EscapeProbe withReach(Reach what) {
    return new EscapeProbe(
        name, topic, target, location, control, attempt, evidence, floor, rootFloor, what, offline,
        need);
  }

  /** Requires that every isolation level refuses the probe. */
  EscapeProbe fromProcess() {
    return withFloors(Isolation.PROCESS, Isolation.PROCESS);
  }

  /** Requires that every isolation level refuses the probe, but that of a process not to root. */
  EscapeProbe fromProcessExceptRoot() {
    return withFloors(Isolation.PROCESS, Isolation.CONTAINER);
  }

  EscapeProbe withFloors(Isolation anyone, Isolation root) {
    return new EscapeProbe(
        name, topic, target, location, control, attempt, evidence, anyone, root, reach, offline,
        need);
  }

  EscapeProbe onlyOffline() {
    return new EscapeProbe(
        name, topic, target, location, control, attempt, evidence, floor, rootFloor, reach, true,
        need);
  }

  EscapeProbe withNeed(Need what) {
    return new EscapeProbe(
        name, topic, target, location, control, attempt, evidence, floor, rootFloor, reach, offline,
        what);
  }
}
