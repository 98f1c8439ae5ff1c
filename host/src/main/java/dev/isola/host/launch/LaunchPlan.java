package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the launcher is told: steps, taken one after the other. The verbs are those of {@code
 * host/launcher/src/launch.c}. Holds the agent's secret once {@link #boot} was called.
 */
public final class LaunchPlan {
  private final List<byte[][]> steps = new ArrayList<>();

  /** Adds a step. */
  public LaunchPlan step(String... words) {
    byte[][] step = new byte[words.length][];
    for (int i = 0; i < words.length; i++) {
      step[i] = words[i].getBytes(UTF_8);
    }
    steps.add(step);
    return this;
  }

  /** Adds a step. */
  LaunchPlan add(List<String> words) {
    return step(words.toArray(String[]::new));
  }

  /** Reads what {@link #encode} wrote. */
  static LaunchPlan decode(byte[] encoded) {
    LaunchPlan plan = new LaunchPlan();
    ByteBuffer in = ByteBuffer.wrap(encoded);
    while (in.hasRemaining()) {
      byte[][] step = new byte[in.getInt()][];
      for (int i = 0; i < step.length; i++) {
        step[i] = new byte[in.getInt()];
        in.get(step[i]);
      }
      plan.steps.add(step);
    }
    return plan;
  }

  private static boolean is(byte[][] step, String verb) {
    return new String(step[0], UTF_8).equals(verb);
  }

  /** Tells whether a step has this as its third word, which is where most put something. */
  boolean hasDestination(String path) {
    return steps.stream()
        .anyMatch(step -> step.length > 2 && new String(step[2], UTF_8).equals(path));
  }

  /** Returns the first step with a verb. */
  Optional<List<String>> find(String verb) {
    return steps.stream()
        .filter(step -> is(step, verb))
        .findFirst()
        .map(step -> Stream.of(step).map(word -> new String(word, UTF_8)).toList());
  }

  /** Returns this plan with other words for the step that has their verb. */
  LaunchPlan replaceStep(List<String> words) {
    LaunchPlan changed = new LaunchPlan();
    for (byte[][] step : steps) {
      if (is(step, words.getFirst())) {
        changed.add(words);
      } else {
        changed.steps.add(step);
      }
    }
    return changed;
  }

  /** Adds what the agent reads from its standard input. */
  public LaunchPlan boot(byte[] record) {
    steps.add(new byte[][] {"boot".getBytes(UTF_8), record});
    return this;
  }

  /** Adds the program that is run last. */
  public LaunchPlan run(List<String> words) {
    List<String> step = new ArrayList<>(words);
    step.addFirst("run");
    return step(step.toArray(String[]::new));
  }

  /** Returns what the launcher reads. */
  public byte[] encode() {
    ByteArrayOutputStream out = new ByteArrayOutputStream(4096);
    for (byte[][] step : steps) {
      number(out, step.length);
      for (byte[] word : step) {
        number(out, word.length);
        out.writeBytes(word);
      }
    }
    return out.toByteArray();
  }

  private static void number(ByteArrayOutputStream out, int value) {
    out.writeBytes(ByteBuffer.allocate(4).putInt(value).array());
  }
}
