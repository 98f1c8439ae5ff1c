package dev.isola.link;

import java.time.Duration;

/**
 * The patience of the link.
 *
 * @param connect how long a call waits for a connection, the first one or one after a drop
 * @param absent how long an agent that was there before may be absent until it counts as gone
 * @param greeting how long the greeting may take
 * @param answer how long the agent may take for an answer that costs it little
 * @param longAnswer how long it may take for one that depends on the size of a tree or a file
 * @param silence after how long without a byte the agent is pinged while something is open
 * @param pong how long it may stay silent after that
 */
public record LinkOptions(
    Duration connect,
    Duration absent,
    Duration greeting,
    Duration answer,
    Duration longAnswer,
    Duration silence,
    Duration pong) {

  public static final LinkOptions DEFAULT =
      new LinkOptions(
          Duration.ofSeconds(5),
          Duration.ofMillis(500),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofMinutes(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(10));

  public LinkOptions withConnect(Duration patience) {
    return new LinkOptions(patience, absent, greeting, answer, longAnswer, silence, pong);
  }

  public LinkOptions withAbsent(Duration patience) {
    return new LinkOptions(connect, patience, greeting, answer, longAnswer, silence, pong);
  }

  public LinkOptions withGreeting(Duration patience) {
    return new LinkOptions(connect, absent, patience, answer, longAnswer, silence, pong);
  }

  public LinkOptions withAnswer(Duration patience) {
    return new LinkOptions(connect, absent, greeting, patience, longAnswer, silence, pong);
  }

  public LinkOptions withLongAnswer(Duration patience) {
    return new LinkOptions(connect, absent, greeting, answer, patience, silence, pong);
  }

  public LinkOptions withLiveness(Duration silence, Duration pong) {
    return new LinkOptions(connect, absent, greeting, answer, longAnswer, silence, pong);
  }
}
