package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A plan for the launcher: steps that it takes in order. The verbs are documented in {@code
 * host/launcher/src/launch.c}. Contains the agent's secret after {@link #boot}.
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

  /** Decodes the result of {@link #encode}. */
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

  /** Reports whether a step has this path as its third word, the destination of most steps. */
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

  /** Returns a copy of this plan in which {@code words} replace the step with the same verb. */
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

  /** Returns a copy of this plan with other steps before the first one with a verb. */
  LaunchPlan insertBefore(String verb, LaunchPlan others) {
    LaunchPlan changed = new LaunchPlan();
    boolean inserted = false;
    for (byte[][] step : steps) {
      if (!inserted && is(step, verb)) {
        changed.steps.addAll(others.steps);
        inserted = true;
      }
      changed.steps.add(step);
    }
    return changed;
  }

  /** Adds the input of the agent. */
  public LaunchPlan boot(byte[] record) {
    steps.add(new byte[][] {"boot".getBytes(UTF_8), record});
    return this;
  }

  /** Adds the program that is executed last. */
  public LaunchPlan run(List<String> words) {
    List<String> step = new ArrayList<>(words);
    step.addFirst("run");
    return step(step.toArray(String[]::new));
  }

  /** Returns the encoded plan. */
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
