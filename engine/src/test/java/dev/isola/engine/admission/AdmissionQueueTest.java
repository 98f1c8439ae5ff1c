package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.Resources;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdmissionQueueTest {
  private static final Resources ROOM = Resources.of(4, 4096);
  private Resources elsewhere = Resources.NONE;
  private final AdmissionQueue queue =
      new AdmissionQueue(Capacity.ofInstallation(ROOM), Headroom.UNCHECKED, () -> elsewhere);

  private AdmissionQueue.Ticket join(double cpu, long memoryMb) {
    return queue.enqueue("p", Resources.of(cpu, memoryMb), Instant.MAX);
  }

  @Test
  void admitsInFifoOrder() {
    AdmissionQueue.Ticket first = join(1, 3000);
    AdmissionQueue.Ticket large = join(1, 3000);
    AdmissionQueue.Ticket small = join(1, 100);
    assertThat(first.state()).isEqualTo(AdmissionQueue.State.ADMITTED);
    assertThat(large.state()).isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(small.state())
        .as("fits, but is behind in the queue")
        .isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(queue.release(first)).containsExactly(large, small);
    assertThat(queue.free()).isEqualTo(Resources.of(2, 996));
  }

  @Test
  void capacityIsSharedWithOtherServers() {
    elsewhere = Resources.of(0, 3000);
    AdmissionQueue.Ticket ticket = join(1, 2000);
    assertThat(ticket.state()).isEqualTo(AdmissionQueue.State.WAITING);
    elsewhere = Resources.of(0, 2000);
    assertThat(queue.admitWaiting()).containsExactly(ticket);
  }

  @Test
  void abandonedTicketUnblocksLaterOnes() {
    AdmissionQueue.Ticket first = join(1, 3000);
    AdmissionQueue.Ticket large = join(1, 3000);
    AdmissionQueue.Ticket small = join(1, 100);
    assertThat(queue.release(large)).containsExactly(small);
    assertThat(queue.release(first)).isEmpty();
  }

  @Test
  void releaseIsIdempotent() {
    AdmissionQueue.Ticket one = join(1, 1000);
    assertThat(queue.release(one)).isEmpty();
    assertThat(queue.release(one)).isEmpty();
    assertThat(queue.free()).isEqualTo(ROOM);
  }

  @Test
  void existingSandboxesAreReservedBeyondTheCapacity() {
    AdmissionQueue.Ticket existing = queue.adopt("p", Resources.of(8, 9000));
    assertThat(queue.free()).isEqualTo(Resources.of(-4, -4904));
    AdmissionQueue.Ticket next = join(1, 1);
    assertThat(next.state()).isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(queue.release(existing)).containsExactly(next);
  }

  @Test
  void reservationsAreCountedPerProvider() {
    AdmissionQueue.Ticket east = queue.enqueue("east", Resources.of(1, 1000), Instant.MAX);
    AdmissionQueue.Ticket west = queue.adopt("west", Resources.of(2, 500));
    assertThat(queue.reserved("east")).isEqualTo(Resources.of(1, 1000));
    assertThat(queue.reserved("west")).isEqualTo(Resources.of(2, 500));
    queue.move(east, "west");
    assertThat(queue.reserved("east")).isEqualTo(Resources.NONE);
    assertThat(queue.reserved("west")).isEqualTo(Resources.of(3, 1500));
    assertThat(queue.reserved()).isEqualTo(Resources.of(3, 1500));
    queue.release(east);
    queue.release(west);
    queue.move(east, "east");
    assertThat(queue.reserved("east")).as("nothing is reserved").isEqualTo(Resources.NONE);
    assertThat(queue.reserved("west")).isEqualTo(Resources.NONE);
  }

  /** Uses fractions that floating point cannot represent exactly. */
  @Test
  void reservationsSumToZeroAfterAnySequence() {
    Random random = new Random(1);
    List<AdmissionQueue.Ticket> tickets = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      tickets.add(join(0.1 + random.nextInt(30) / 10.0, 1 + random.nextInt(2000)));
      Collections.swap(tickets, random.nextInt(tickets.size()), tickets.size() - 1);
      if (tickets.size() > 50) {
        queue.release(tickets.removeLast());
      }
      assertThat(queue.reserved().fitsIn(ROOM)).isTrue();
    }
    tickets.forEach(queue::release);
    assertThat(queue.reserved()).isEqualTo(Resources.NONE);
    assertThat(queue.waiting()).isZero();
  }
}
