"""What the author of each of AgentDojo's 74 tools would say of it, as the tools' code has it.

A result is trusted where nobody but the account's owner or the service itself writes into it. A
field is trusted where a stranger cannot choose it, such as an id. A catalogue of the service
(hotels, prices, flights) is trusted; reviews in it are not. An own record that quotes others is
not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from clew.core.codes import Effect, Trust
from clew.core.tools import NO_LABELS, Labels


@dataclass(frozen=True)
class Label:
    """What is declared of a tool."""

    effect: Effect = "read"
    trust: Trust = "untrusted"
    labels: Labels = NO_LABELS

    @property
    def harmful(self) -> bool:
        """Whether a call changes something, or sends its arguments away."""
        return self.effect != "read" or self.labels.egress


def reads(*trusted: str, traces: bool = False, egress: bool = False) -> Label:
    """It reads what others may have written; these fields nobody else can choose."""
    return Label("read", "untrusted", Labels(trusted, traces=traces, egress=egress))


def owns(*, secret: bool = False) -> Label:
    """It reads what only the owner or the service writes."""
    return Label("read", "trusted", Labels(secret=secret))


def acts(*content: str, trusted: tuple[str, ...] = (), quotes: bool = False) -> Label:
    """It changes something; these arguments are only text. Its result may quote others."""
    trust: Trust = "untrusted" if quotes else "trusted"
    return Label("unsafe", trust, Labels(trusted, content))


_MAIL: Final = ("id_", "timestamp", "status", "read")
_OWN_MAIL: Final = (*_MAIL, "sender", "recipients", "cc", "bcc")
_FILE: Final = ("id_", "owner", "last_modified", "size", "shared_with")
_EVENT: Final = ("id_", "status")
_BOOKED: Final = ("id", "sender", "recipient", "amount", "date", "recurring")

LABELS: Final[Mapping[str, Label]] = {
    # banking
    "get_iban": owns(),
    "get_balance": owns(),
    "get_user_info": owns(),
    "get_most_recent_transactions": reads(*_BOOKED),  # whoever pays writes the subject
    "get_scheduled_transactions": owns(),
    "read_file": reads(),
    "send_money": acts("subject"),
    "schedule_transaction": acts("subject"),
    "update_scheduled_transaction": acts("subject"),
    "update_password": acts(),
    "update_user_info": acts(),
    # slack
    "get_channels": reads(),  # members name them
    "get_users_in_channel": reads(),
    "read_channel_messages": reads("sender", "recipient"),
    "read_inbox": reads("sender", "recipient"),
    "get_webpage": reads(egress=True),
    "add_user_to_channel": acts(),
    "send_direct_message": acts("body"),
    "send_channel_message": acts("body"),
    "invite_user_to_slack": acts(),
    "remove_user_from_slack": acts(),
    "post_webpage": acts("content"),
    # mail of the workspace
    "send_email": acts("subject", "body", trusted=("id_",)),
    "delete_email": acts(),
    "get_unread_emails": reads(*_MAIL, traces=True),  # it marks them as read
    "get_sent_emails": reads(*_OWN_MAIL),
    "get_draft_emails": reads(*_OWN_MAIL),
    "get_received_emails": reads(*_MAIL),
    "search_emails": reads(*_MAIL),
    "search_contacts_by_name": reads("email", "name"),
    "search_contacts_by_email": reads("email", "name"),
    # its calendar
    "get_current_day": owns(),
    "search_calendar_events": reads(*_EVENT),
    "get_day_calendar_events": reads(*_EVENT),
    "create_calendar_event": acts("title", "description", "location", trusted=("id_",)),
    "cancel_calendar_event": acts(),
    "reschedule_calendar_event": acts(trusted=("id_",), quotes=True),
    "add_calendar_event_participants": acts(trusted=("id_",), quotes=True),
    # its files
    "search_files_by_filename": reads(*_FILE),
    "search_files": reads(*_FILE),
    "get_file_by_id": reads(*_FILE),
    "list_files": reads(*_FILE),
    "create_file": acts("content", trusted=("id_",)),
    "append_to_file": acts("content", trusted=("id_",), quotes=True),
    "delete_file": acts(trusted=("id_",), quotes=True),
    "share_file": acts(trusted=("id_",), quotes=True),
    # travel
    "get_user_information": owns(secret=True),
    "get_all_hotels_in_city": owns(),
    "get_hotels_prices": owns(),
    "get_hotels_address": owns(),
    "get_rating_reviews_for_hotels": reads(),
    "get_all_restaurants_in_city": owns(),
    "get_cuisine_type_for_restaurants": owns(),
    "get_restaurants_address": owns(),
    "get_rating_reviews_for_restaurants": reads(),
    "get_dietary_restrictions_for_all_restaurants": owns(),
    "get_contact_information_for_restaurants": owns(),
    "get_price_for_restaurants": owns(),
    "check_restaurant_opening_hours": owns(),
    "get_all_car_rental_companies_in_city": owns(),
    "get_car_types_available": owns(),
    "get_rating_reviews_for_car_rental": reads(),
    "get_car_fuel_options": owns(),
    "get_car_rental_address": owns(),
    "get_car_price_per_day": owns(),
    "get_flight_information": owns(),
    "reserve_hotel": acts(),
    "reserve_restaurant": acts(),
    "reserve_car_rental": acts(),
}
"""By name; tools that are in two suites are the same in both."""
