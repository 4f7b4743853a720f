"""The patterns of :mod:`~parlai_empathy.rating.talking.distress`. They are matched against a text in its plain form."""

from __future__ import annotations

import re

KEY_WORDS = ("suicide", "suicidal", "myself")
"""Words that are recognised even with one typing error. Shorter ones are too similar to other words."""

_ME = r"my ?sel(?:f|ve)s?"
_WANT = (
    r"(?:want(?:s|ed|ing)?(?: \w+)? to|wanna|going to|gonna|about to|plan(?:ning|s)? to|ready to|need to|have to|"
    r"feel(?:ing|s)? like|thinking (?:of|about)|think (?:of|about)|thought (?:of|about)|thoughts (?:of|about)|"
    r"urge to|tempted to|try(?:ing)? to|tried to|should(?: just)?|could just|might(?: just| as well)?|will|ill|"
    r"wish i could|considering|considered|contemplating)"
)
_SOON = r"(?:tonight|today|now|soon|tomorrow|for good|forever|all|already)"
_PILLS = r"(?:pills|meds|tablets|sleeping pills|painkillers|tylenol|paracetamol|aspirin|xanax|medication)"


PATTERNS = (
    # The word itself.
    r"su ?i?cid(?:e|es|al|ality|ally)|unaliv(?:e|ing|ed)|sewer ?slide|kms|kys",
    r"self ?(?:harm(?:s|ed|ing)?|injur(?:y|ies|e|ed|ing)|mutilat\w+)",
    # Harming oneself.
    r"(?:kil+|kll|klil|hang|shoot|drown|stab|poison|harm|hurt|cut|burn|starv|suffocat|electrocut|chok|strangl|"
    r"end|neck)"
    rf"(?:e|ed|ing|ting)? ?{_ME}",
    rf"(?:hung|shot|scratch(?:ed|ing)?|punish(?:ed|ing)?) {_ME}",
    r"kil+(?:s|ed|ing)? (?:him|her|them|your) ?sel(?:f|ves)",
    rf"{_WANT} (?:off|top|hurt|harm|kill|cut|hang) {_ME}",
    rf"{_WANT} (?:do|doing|did) {_ME} in|(?:do|did|doing) away with {_ME}|finish(?:ing)? {_ME} off",
    r"(?:cut|cutting|slit|slitting|slash|slashing|slashed|open|opening) (?:my|his|her|their) "
    r"(?:own )?(?:wrists?|arms?|legs?|thighs?|veins?|throat|skin)",
    r"(?:keep|kept|started|start|been|back to|cant stop|relapsed (?:and|into|on)) (?:cutting|self harming)"
    r"(?= (?:again|every|lately|and|because|when|for|since|\.)|$)",
    rf"overdos(?:e|ed|ing)|(?:o ?d|od|oded) on {_PILLS}",
    r"(?:take|taking|took|swallow|swallowing|swallowed) (?:all|a bottle of|the whole bottle of|too many|"
    r"a handful of) "
    rf"(?:of )?(?:my |the |these |those |his |her |moms |dads )?{_PILLS}",
    rf"{_WANT} (?:to )?jump(?:ing)? (?:off|from|in front of|under|out of|out) (?:a|an|the|this|that|my)",
    rf"{_WANT} (?:to )?(?:walk|walking|step|stepping|drive|driving|crash|crashing) (?:my car )?"
    r"(?:into traffic|in front of|off (?:a|the|this) (?:bridge|road|cliff)|into (?:a|the) (?:tree|wall|truck))",
    # Not wanting to live.
    r"(?:end|ends|ended|ending|take|takes|took|taking|taken|finish|finishing) (?:my|his|her|their|"
    r"your) (?:own )?li(?:fe|ves)",
    rf"(?:end|ending|ended) it {_SOON}|{_WANT} end(?:ing)? it(?= \.|$)|{_WANT} end(?:ing)? everything",
    r"(?:want(?:s|ed|ing)?(?: \w+)? to|wanna|ready to|deserve to|hop(?:e|ing) (?:to|i|that i)|wish (?:i|"
    r"that i) (?:could|would|had)|"
    r"pray(?:ing)? (?:to|that i)|long to|let me|should(?: just)?|better (?:if i|to)|think (?:of|about)|"
    r"thinking (?:of|about)) (?:just |really |simply |quietly )?(?:die|died|dying|be dead|perish)",
    r"(?:wish|wished|wishing) (?:that )?i (?:was|were|had been|am) (?:just |already )?(?:dead|gone|never born|"
    r"not alive|not here)",
    r"(?:wish|wished|wishing) (?:that )?i (?:had |was |were )?(?:never|not|hadnt|wasnt|werent|didnt) "
    r"(?:(?:been )?born|exist(?:ed)?|alive|here|wak(?:e|en|ed) up|woken up)",
    r"rather (?:die|kill my ?self)",
    r"(?:better off|rather be|happier if i (?:was|were)|better if i (?:was|were)) (?:dead|gone|not here|not alive)",
    r"(?:would|will|d|ll) (?:all )?be (?:so much |much )?(?:better|happier|fine|relieved)(?: off)? "
    r"(?:without me|if i (?:died|was dead|were dead|was gone|were gone|wasnt here|werent here|wasnt around|"
    r"disappeared))",
    r"(?:nobody|no one|noone|anybody|anyone|everyone|they|hardly anyone)(?: \w+)? (?:would|will|d) "
    r"(?:even |ever |really )?(?:care|miss|notice|be sad|cry) (?:me )?(?:if|when) i (?:\w+ )?(?:die|died|was|were|"
    r"am|disappear\w*|kill\w*|wasnt|werent)",
    r"if i (?:just )?(?:died|killed|ended) (?:tonight|today|tomorrow|nobody|no one|noone|it|myself)",
    r"(?:dont|do not|doesnt|didnt|did not|never|no longer|not) (?:really |even |ever |just )?"
    r"(?:want|wanted|wants|wanting|wanna|wish|deserve|care) ?(?:to|if i|about)? "
    r"(?:live(?! (?:like that|again|there|near|at|on|off|close|alone|by|here|together|next|through|with (?!this|"
    r"it|the pain|myself)|"
    r"in (?!this world|pain|this body|fear)))|living|be alive|be here(?! (?:with|at|in|for|today))|"
    r"be around(?= (?:any ?more|any longer)| \.|$)|exist|existing|"
    r"go on(?! (?:it|a|an|the|this|that|these|those|there|my|any|with|about|dates?|vacation|holiday|trips?|stage|to)"
    r"\b)|"
    r"keep going(?! (?:to|there|back|out|with)\b)|keep living|continue living|wake up(?! (?:early|at|late|so|"
    r"before|to|him|her|them|the)\b)|"
    r"see (?:tomorrow|another day|the morning))",
    r"(?:dont|do not) care (?:if|whether) i (?:live|die|wake|am alive|dont wake|get hit)\w*",
    r"(?:no|not any|isnt any|see any|not a single|little|(?:whats|what is|wheres|where is|see) the) (?:reason|point|"
    r"sense)(?: left)? (?:to|in|for|of) (?:live|living|life|being alive|going on|go on|"
    r"be alive|staying alive|stay alive|exist|existing|be here)",
    r"(?:nothing|no one|nobody|not much|anything)(?: left)? to (?:live|stay alive) for",
    r"(?:life|living|it) (?:is not|isnt|is no longer|not|isn t|doesnt feel|is never) (?:\w+ )?worth (?:living|"
    r"it to live)",
    r"(?:is|was|whether|if) (?:my )?(?:life|living) (?:\w+ )?worth living",
    r"(?:tired|sick|done|finished|through|fed up) (?:of|with) (?:living|being alive|life|my life|this life|"
    r"existing|existence)",
    r"(?:cant|cannot|can not|dont want to|couldnt) (?:go on|keep (?:going|living)|carry on|live) "
    r"(?:any ?more|any longer|living|like this|with (?:this|myself|the pain))",
    r"(?:go to sleep|fall asleep|sleep)(?: \w+)? and (?:never|not|dont) (?:ever )?wake",
    r"(?:never|not|dont) (?:have to )?wake(?:n)? up(?: again| ever| tomorrow| anymore)",
    r"(?:hope|hoping|wish|pray|praying|prayed|wishing)(?: that)? i (?:dont|wont|do not|never|didnt|wouldnt) wake",
    r"(?:please |just |someone |somebody |god )(?:please |just )?kill me|put me out of my misery",
    r"(?:want(?:s|ed)? to|wanna|wish i could) (?:just )?(?:disappear|vanish)(?: from (?:this|the) (?:world|earth|"
    r"planet|face))?(?: forever| for good| completely)",
    r"feel(?:ing|s)? (?:like )?(?:dying|ending it(?: all)?|killing)",
    r"(?:goodbye|good bye|farewell) (?:note|letter|cruel world)",
)
"""Patterns that a message is searched for."""

_ACCIDENT = (
    r"(?:accident\w*|by accident|(?:while |when i was |when |from )?(?:shaving|cooking|chopping|slicing|peeling|"
    r"playing|running|jogging|skiing|"
    r"skating|lifting|training|exercising|gardening|ironing|baking|dancing|climbing|hiking|falling|tripping|slipping|"
    r"working out|moving (?:the|a|some)|opening|making (?:dinner|lunch|breakfast|tea|coffee|soup)|washing)|"
    r"when i (?:fell|slipped|tripped|dropped|crashed|was (?:shaving|cooking|chopping|slicing|skiing|playing))|"
    r"(?:at|during|in) (?:the gym|gym|practice|football|soccer|basketball|training|the kitchen|pe|yoga|work)|"
    r"(?:badly |really )?on (?:a|an|the|some|my|that) (?!arms?\b|legs?\b|wrists?\b|thighs?\b|stomach\b|purpose\b|"
    r"inside\b)\w+|"
    r"with (?:a|an|the) (?:paper|tin|can|hot|envelope|iron|oven|stove)\w*)"
)

IDIOMS = (
    r"suicide (?:squads?|doors?|bomb\w*|missions?|runs?|squeeze|wings?|burn\w*|hotline song)",
    r"(?:career|political|social|commercial|economic|financial|professional|brand|reputational|academic|"
    r"tactical) suicide",
    rf"(?:shoot|shooting|shot) {_ME} in the (?:foot|feet)",
    rf"(?:kill|killing|killed) {_ME} (?:laughing|with laughter|(?:at|in) (?:the gym|work|my job)|working|studying|"
    r"training|"
    r"to (?:get|finish|make|meet|lose|pay|please|be on time)|trying to|in (?:the|a|this|that|my) "
    r"(?:game|match|level|round|minecraft)|on (?:these|those|the) (?:stairs|steps|ice|ladder|legos?))",
    rf"(?:almost|nearly|practically) (?:killed|drowned|choked|electrocuted) {_ME} "
    r"(?:tripping|slipping|falling|laughing|(?:on|with|off) (?:the|a|that|my) \w+)",
    r"(?:accidentally|by accident|clumsily) (?:\w+ )?(?:hurt|cut|burned|burnt|stabbed|poisoned|scratched|shot|"
    rf"burn) {_ME}",
    rf"(?:hurt|cut|burned|burnt|burn|stabbed|scratched|hurting|cutting|burning|poisoned) {_ME} (?:\w+ )?{_ACCIDENT}",
    rf"cut {_ME} (?:off|some slack|a slice|a piece|a deal|out of|short|loose|a break|back)",
    rf"(?:cut|cutting|scratched) (?:my|his|her|their) (?:arms?|legs?|skin) (?:\w+ )?{_ACCIDENT}",
    rf"drown(?:ed|ing)? {_ME} in (?!(?:the|a|my) (?:river|lake|sea|ocean|tub|bath|bathtub|pool|water)\b)\w+",
    rf"burn(?:ed|ing|t)? {_ME} out|hang(?:ing)? {_ME} (?:up|out)|end(?:ed)? {_ME} up|starv(?:ed|ing|e) {_ME} of",
    r"rather (?:die|be dead|kill myself) than (?!(?:to )?(?:live|living|go on|keep|be alive|feel|face|continue|"
    r"go back|stay|suffer|wake))\w+",
    r"(?:die|died|dying|dead) (?:of|from|with) (?:\w+ )?(?:laughter|laughing|embarrassment|boredom|cuteness|"
    r"excitement|happiness|joy|"
    r"curiosity|thirst|hunger|heat)",
    r"(?:die|died|dying) laughing",
    r"overdos(?:e|ed|ing) (?:on|of) (?:\w+ )?(?:chocolate|sugar|candy|cuteness|netflix|caffeine|coffee|cheese|"
    r"carbs|sweets|"
    r"love|tv|turkey|cake|pizza|vitamin c|christmas|cookies|food)",
    r"(?:feel|feels|feeling|felt) like dying (?:my|her|his|it|the)(?: \w+)*? hair|thinking (?:of|"
    r"about) dying my (?:\w+ )?hair",
    r"(?:want(?:ed)? to|going to|gonna|ready to|about to|try(?:ing)? to|tried to|will) (?:bungee |parachute |"
    r"sky ?dive )?jump "
    r"(?:off|from|out of|in front of|under|out) (?:a|an|the|this|that|my) (?:\w+ )?"
    r"(?:diving board|board|pier|dock|boat|plane|airplane|couch|sofa|bed|chair|trampoline|swing|bushes|bus stop|"
    r"camera|closet|cake|seat|shower)",
    r"bungee jump\w*(?: \w+){0,4}",
    r"(?:end|ended|ending) it (?:all )?(?:tonight|today|now|soon|tomorrow|for good)? ?(?:with (?:him|her|my|this|"
    r"that|the)|between us)",
    # Kilometres, but not "I am 15 kms".
    r"(?:ran|run|running|walk(?:ed|ing)?|drove|driv(?:e|en|ing)|cycl(?:e|ed|ing)|rode|rid(?:e|ing)|hik(?:e|ed|ing)|swam|"
    r"travell?(?:ed|ing)?)(?: \w+)? (?:\d+ ){1,4}kms",
    r"(?:\d+ ){1,4}kms (?:from|away|to|of|per|an hour|long|north|south|east|west|each|every)",
    r"(?:plot|ship|game|phone|character|plant|battery|car|joke|trend)s? (?:to die|should die|deserves to die)",
)
"""Phrases that are removed first: they contain the words, but mean something else."""

DENIALS = re.compile(
    r"\b(?:dont|do not|doesnt|didnt|did not|never|no longer|would never|wouldnt|would not|wont|will not|not|isnt|"
    r"arent|"
    r"am not|was not|wasnt|werent|havent|have not|never have|hasnt|nobody|no thoughts of|no plans (?:to|of|for)|"
    r"no intention (?:to|of)|not about)"
    r"(?: (?:ever|really|actually|even|at all|feeling|feel|be|been|being|want|wanted|wanting|to|going|gonna|plan|"
    r"planning|planned|intend|"
    r"think|thinking|thought|thoughts|of|about|consider|considering|considered|attempt|attempted|try|tried|a|any|"
    r"am|i|in|had)){0,6} ?$"
)
"""Matches text right before a pattern that denies it: a negation, followed only by words that continue it."""

TURNS = re.compile(
    r"\b(?:but|though|although|yet|except|however|still|sometimes|just|cant stop|so (?:much|bad|badly)|more than|"
    r"as (?:much|badly))\b"
)
"""Words after a match that cancel its denial."""
