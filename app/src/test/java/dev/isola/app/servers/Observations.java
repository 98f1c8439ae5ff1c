package dev.isola.app.servers;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What clients were promised and what they found in the end.
 *
 * @param created the sandboxes by idempotency key: the ids of all successful responses
 * @param destroyed the sandboxes whose destruction was acknowledged
 * @param commands the commands that ran to their end
 * @param events what each reader of events saw
 * @param recorded the events of the ledger in the end
 * @param states the state of each sandbox of {@code created} in the ledger in the end
 * @param ledger the sandboxes of the ledger in the end that are not destroyed
 * @param machine the sandboxes that exist on the machine in the end, by their id in the ledger
 * @param starts how often each command started, by its word, as files of the sandboxes tell
 * @param acknowledgedStarts the words of commands whose start was acknowledged, while their sandbox
 *     lived
 */
record Observations(
    Map<String, List<String>> created,
    Set<String> destroyed,
    List<CommandOutput> commands,
    List<List<Event>> events,
    List<Event> recorded,
    Map<String, String> states,
    Set<String> ledger,
    Set<String> machine,
    Map<String, Integer> starts,
    Set<String> acknowledgedStarts) {

  /** The output of a command as a client put it together from pieces. */
  record CommandOutput(String name, String expected, String actual) {}

  /** An event of the feed. */
  record Event(long number, String type, String sandbox) {}
}
