package dev.isola.conformance.escape;

import dev.isola.spi.Isolation;
import java.util.List;

/**
 * One way out of a sandbox. The {@code with} methods, each of which returns a new probe, say what
 * is special about it.
 *
 * @param name stable: the name of its check
 * @param words what it would get at
 * @param plant where what it attacks is planted
 * @param control what the program is told on the bare host, where it must get through
 * @param attempt what it is told in the sandbox
 * @param proof what tells whether it got through
 * @param floor the least isolation that must refuse it
 * @param rootFloor the least isolation that must refuse it to root of the sandbox too
 * @param reach what it gets at
 * @param offline it is about a sandbox without a network
 * @param need what a provider may lack, and say so, without which it is not refused
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

  /** What the program is told. */
  public interface ProbeArguments {
    List<String> arguments(ProbeContext scene);
  }

  /** What a probe is about. */
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

  /** Where the things to attack are. */
  public enum TargetLocation {
    /** On the host. */
    HOST,
    /** On the host: what the provider keeps of a sandbox that exists. */
    INSTALLATION,
    /** In another sandbox of the same provider. */
    OTHER_SANDBOX,
    /** Nowhere; the workspace is a folder of the caller's. */
    WORKSPACE
  }

  /** What tells whether it got through. */
  public enum Evidence {
    /** The program's word. */
    OUTPUT,
    /** The file named first, as the host sees it afterwards. */
    FILE,
    /** Whether the planted process lives. */
    PROCESS,
    /** Whether the sandbox still answers; on the bare host, whether the planted process lives. */
    SANDBOX,
    /** Whether a file of that name on the host belongs to root and sets its user. */
    SETUID
  }

  /** What a wall is made of that not every provider has everywhere. */
  public enum Need {
    NOTHING(""),
    /** Namespaces of any kind, where the isolation is {@code process}. */
    NAMESPACES(""),
    /** Users of the sandbox's own: a container engine may give none. */
    USERS("user namespaces"),
    /** A view of control groups of its own, in the same way. */
    CONTROL_GROUPS("control group namespaces");

    private final String requirement;

    Need(String requirement) {
      this.requirement = requirement;
    }

    /** Tells whether this is the requirement by which a provider says whether it has it here. */
    public boolean isNamed(String name) {
      return !requirement.isEmpty() && requirement.equals(name);
    }
  }

  /** What it gets at. */
  public enum Reach {
    /** Something of the host's, whatever kernel is in between. */
    HOST,
    /**
     * A right that the kernel grants. Where the sandbox has a kernel of its own, that gives nothing
     * of the host's.
     */
    KERNEL
  }

  /** Returns a probe that every wall must refuse, to root too. */
  static EscapeProbe of(String name, Topic topic, String words, ProbeArguments script) {
    return new EscapeProbe(
        name,
        topic,
        words,
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

  /** Returns a probe of a right of the kernel. */
  static EscapeProbe ofKernel(String name, Topic topic, String words, String... program) {
    List<String> told = List.of(program);
    return of(name, topic, words, scene -> told).withReach(Reach.KERNEL);
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

  /** Without a wall too. */
  EscapeProbe fromProcess() {
    return withFloors(Isolation.PROCESS, Isolation.PROCESS);
  }

  /** Without a wall too, but there not to root. */
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
