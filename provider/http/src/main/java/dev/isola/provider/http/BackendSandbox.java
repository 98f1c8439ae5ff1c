package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendDocument;
import dev.isola.provider.http.client.BackendText;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A sandbox as the backend describes it.
 *
 * @param id its id at the backend
 * @param sandbox its id at Isola
 * @param isolation its own; that of the backend if empty
 * @param note what Isola sent with the create
 */
record BackendSandbox(
    String id,
    String instance,
    String sandbox,
    SandboxState state,
    Instant createdAt,
    Optional<Isolation> isolation,
    String note,
    Map<String, String> details) {
  private static final int MOST_DETAILS = 20;
  private static final Set<SandboxState> USABLE =
      Set.of(SandboxState.RUNNING, SandboxState.PAUSED, SandboxState.STOPPED);

  static BackendSandbox parse(BackendDocument json) {
    String state = json.text("state");
    Map<String, String> details = new LinkedHashMap<>();
    json.strings("details").entrySet().stream()
        .limit(MOST_DETAILS)
        .forEach(
            one -> details.put(BackendText.line(one.getKey()), BackendText.line(one.getValue())));
    json.optionalText("reason").ifPresent(why -> details.put("reason", BackendText.line(why)));
    return new BackendSandbox(
        json.text("id"),
        json.text("instance"),
        json.text("sandbox"),
        BackendInfo.word(SandboxState.class, state)
            .filter(known -> known != SandboxState.DESTROYED)
            .orElseThrow(
                () -> json.malformed("the state '" + BackendText.line(state) + "' is not known")),
        json.instant("createdAt"),
        json.optionalText("isolation")
            .map(
                word ->
                    BackendInfo.word(Isolation.class, word)
                        .orElseThrow(
                            () ->
                                json.malformed(
                                    "the isolation '"
                                        + BackendText.line(word)
                                        + "' is not known"))),
        json.optionalText("note").orElse(""),
        details);
  }

  /** Returns whether it can be used, perhaps after a resume. */
  boolean isUsable() {
    return USABLE.contains(state);
  }

  /** Returns whether this is that sandbox. The backend could answer for another one. */
  boolean is(SandboxId wanted, BackendIds ids) {
    return id.equals(ids.of(wanted))
        && instance.equals(ids.instance().value())
        && sandbox.equals(wanted.value());
  }
}
